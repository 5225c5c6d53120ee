import { createServer, type IncomingMessage } from 'node:http';
import { listen } from '../../edge/http/listen.ts';

/** A request of GraphQL over HTTP, as far as the contenders need it. */
export type Asked = {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly authorization: string | undefined;
};

/** Serves answers on `node:http` in a process of its own, and reports its address to the parent. */
export const serve = async (answer: (asked: Asked) => Promise<string>): Promise<void> => {
  const server = createServer((request, response) => {
    read(request)
      .then((text) => {
        const { query, variables = {} } = JSON.parse(text);
        return answer({ query, variables, authorization: request.headers.authorization });
      })
      .then(
        (body) =>
          response
            .writeHead(200, {
              'content-type': 'application/graphql-response+json',
              'content-length': Buffer.byteLength(body),
            })
            .end(body),
        (error) => response.writeHead(500).end(String(error)),
      );
  });
  const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
  process.send?.({ url });
};

const read = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk;
  return text;
};
