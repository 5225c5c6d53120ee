import { Agent } from 'undici';

// A bare loop of POSTs to an address, a number at a time, with nothing signed, looked up or recorded.
const url = new URL(String(process.argv[2]));
const LANES = 100;
const BODY = Buffer.from(
  JSON.stringify({
    id: 'x'.repeat(36),
    type: 'comment.added',
    data: { commentId: 1 },
    filling: 'x'.repeat(150),
  }),
);

const agent = new Agent({ connections: LANES, pipelining: 1 });
process.on('message', async (count: number) => {
  let left = count;
  const startedMs = performance.now();
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const headers = { 'content-type': 'application/json' };
      const { body } = await agent.request({
        origin: url.origin,
        path: url.pathname,
        method: 'POST',
        headers,
        body: BODY,
      });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  process.send?.((count / (performance.now() - startedMs)) * 1_000);
});
