/**
 * Receives webhooks as a route handler: `app/hooks/route.js` of Next.js, and whatever else calls a function with a `Request` for a `Response`. WEBHOOK_SECRET
 * is what the registration has answered; while it is being rotated, both, with a space between them.
 */
import { verifyWebhook, WebhookRefused } from 'annals/client';

/** What has come already. Yours is a table with a unique id, written in one transaction with whatever you do about an event. */
const seen = new Set();

/** Quick, because the answer waits for it: what takes long is done later, by whatever works off the table. */
const receive = (event) => {
  if (seen.has(event.id)) return;
  seen.add(event.id);
  console.log(event.id, event.type, event.subject);
};

export async function POST(request) {
  const secrets = (process.env.WEBHOOK_SECRET ?? '').split(' ').filter((secret) => secret !== '');
  try {
    // The signature is over the bytes as they came.
    receive(await verifyWebhook(request.headers, await request.arrayBuffer(), secrets));
    return new Response(null, { status: 204 });
  } catch (error) {
    // Whatever else goes wrong is answered by 500, and the event is sent again.
    if (!(error instanceof WebhookRefused)) throw error;
    return new Response(null, { status: 401 });
  }
}
