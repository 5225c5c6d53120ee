import { createServer } from 'node:http';

// Serves the route handlers of the given file, such as `POST(request)`, like frameworks based on `Request`
// and `Response`.

type Handler = (request: Request) => Promise<Response>;

const [path = ''] = process.argv.slice(2);
const handlers = (await import(new URL(`../../${path}`, import.meta.url).href)) as Readonly<
  Record<string, Handler | undefined>
>;

const server = createServer(async (request, response) => {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', headers } = request;
    const handle = handlers[method];
    if (handle === undefined) return response.writeHead(405).end();
    const entries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    const answer = await handle(
      new Request(`http://localhost${request.url}`, {
        method,
        headers: entries,
        body: Buffer.concat(chunks),
      }),
    );
    return response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  } catch (error) {
    console.error(error);
    return response.writeHead(500).end();
  }
});

server.listen(Number(process.env.PORT), () => console.error('listening'));
