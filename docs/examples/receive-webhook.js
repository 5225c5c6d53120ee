/**
 * Receives webhooks with Node alone. WEBHOOK_SECRET is the secret from the registration; during a rotation,
 * both secrets with a space between them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secrets = (process.env.WEBHOOK_SECRET ?? '').split(' ').filter((secret) => secret !== '');
const port = Number(process.env.PORT ?? 8080);

/** An older request may have been intercepted and replayed. */
const AGE_MAX_SECONDS = 300;
const BODY_BYTES_MAX = 1_000_000;

/**
 * Returns whether Annals has just sent this. `body` must be the original bytes: parsing and serialising would
 * change them.
 */
const isGenuine = (headers, body) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > AGE_MAX_SECONDS)
    return false;
  const expected = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest(),
  );
  // Any of the signatures by any of our secrets is enough.
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return (
      signature.startsWith('v1,') &&
      expected.some((each) => each.length === given.length && timingSafeEqual(each, given))
    );
  });
};

/**
 * The processed events. Yours is a table with a unique id, written in one transaction with the processing of
 * an event.
 */
const seen = new Set();

/**
 * Your processing of an event. The answer waits for it, at most 15 seconds: leave slow work to a job that
 * reads the table.
 */
const handle = async (event) => {
  console.log(event.id, event.type, event.subject);
};

/** Marks an event after its processing: if that fails, the answer is 500, and Annals retries. */
const receive = async (event) => {
  if (seen.has(event.id)) return;
  await handle(event);
  seen.add(event.id);
};

const server = createServer(async (request, response) => {
  const chunks = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) return response.writeHead(413).end();
    }
    const body = Buffer.concat(chunks);
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
    await receive(JSON.parse(body));
    response.writeHead(204).end();
  } catch (error) {
    // Annals retries.
    console.error(error);
    response.writeHead(500).end();
  }
});

if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is missing');
server.listen(port, () => console.error(`listening on http://localhost:${port}`));
