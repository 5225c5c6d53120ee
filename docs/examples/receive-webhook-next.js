/**
 * Receives webhooks as a route handler: `app/hooks/route.js` of Next.js, or any framework whose handlers map
 * a `Request` to a `Response`. WEBHOOK_SECRET is the secret from the registration; during a rotation, both
 * secrets with a space between them.
 */
import { verifyWebhook, WebhookRefused } from 'annals/client';

/**
 * The processed events. Yours is a table with a unique id, written in one transaction with the processing of
 * an event.
 */
const seen = new Set();

/** Your processing of an event. The answer waits for it: leave slow work to a job that reads the table. */
const handle = async (event) => {
  console.log(event.id, event.type, event.subject);
};

/** Marks an event after its processing: if that fails, the answer is 500, and Annals retries. */
const receive = async (event) => {
  if (seen.has(event.id)) return;
  await handle(event);
  seen.add(event.id);
};

export async function POST(request) {
  const secrets = (process.env.WEBHOOK_SECRET ?? '').split(' ').filter((secret) => secret !== '');
  // An answer of 401 would look like a forged request.
  if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is missing');
  try {
    // The signature covers the original bytes.
    await receive(await verifyWebhook(request.headers, await request.arrayBuffer(), secrets));
    return new Response(null, { status: 204 });
  } catch (error) {
    // The framework answers any other error with 500, and Annals retries.
    if (!(error instanceof WebhookRefused)) throw error;
    return new Response(null, { status: 401 });
  }
}
