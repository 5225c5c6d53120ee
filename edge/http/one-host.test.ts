import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { serve } from '../../test/serve.ts';

const exchange = async (url: string, bytes: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
};

test.each(['host: other.example', 'Host: annals.example', 'HOST:'])(
  'a request with a second Host header is refused: %s',
  async (second) => {
    await using server = await serve((_request, response) => response.end('answered'));
    const head = `GET / HTTP/1.1\r\nHost: annals.example\r\n${second}\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(server.url, head);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('application/problem+json');
    expect(answer).toContain('"code":"malformed_request"');
    expect(await exchange(server.url, head.replace(`${second}\r\n`, ''))).toContain('answered');
  },
);
