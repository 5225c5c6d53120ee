/**
 * Receives webhooks as a route handler: `app/hooks/route.js` of Next.js, and whatever else calls a function
 * with a `Request` for a `Response`. WEBHOOK_SECRET is what the registration has answered; while it is being
 * rotated, both, with a space between them.
 */
import { verifyWebhook, WebhookRefused } from 'annals/client';

/**
 * What is done already. Yours is a table with a unique id, written in one transaction with whatever you do
 * about an event.
 */
const seen = new Set();

/**
 * What you do about an event. The answer waits for it: leave what takes long to whatever works off the table.
 */
const handle = async (event) => {
  console.log(event.id, event.type, event.subject);
};

/** Marks an event after its work: if the work fails, the answer is 500, and the retry does it. */
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
    // The signature is over the bytes as they came.
    await receive(await verifyWebhook(request.headers, await request.arrayBuffer(), secrets));
    return new Response(null, { status: 204 });
  } catch (error) {
    // The framework answers everything else with 500, and Annals retries.
    if (!(error instanceof WebhookRefused)) throw error;
    return new Response(null, { status: 401 });
  }
}
