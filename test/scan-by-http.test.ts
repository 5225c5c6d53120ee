import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { scan } from './toy/scan-by-http.ts';

const file = (content: string) => ({
  ...{ field: 'claim.contract', type: 'application/pdf', sha256: 'f00d', name: 'a.pdf' },
  bytes: content.length,
  content: (async function* () {
    for (const character of content) yield Buffer.from(character);
  })(),
  signal: AbortSignal.timeout(10_000),
});

test('the scanner of the guide accepts a clean file, refuses another, and fails if its server does', async () => {
  const asked: string[] = [];
  await using server = createServer(async (request, response) => {
    asked.push(request.url ?? '');
    const content = await text(request);
    response.statusCode = content === 'broken' ? 500 : 200;
    response.end(content === 'good' ? 'clean' : 'EICAR');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  vi.stubEnv('SCANNER_URL', `http://127.0.0.1:${port}/`);
  expect(await scan(file('good'))).toBeUndefined();
  expect(await scan(file('evil'))).toBe('a.pdf was refused by the scanner.');
  await expect(scan(file('broken'))).rejects.toThrow('the scanner answers 500');
  expect(asked[0]).toBe('/?type=application%2Fpdf&bytes=4&sha256=f00d');
  vi.unstubAllEnvs();
});
