/**
 * Receives webhooks with Express. WEBHOOK_SECRET is the secret from the registration; during a rotation, both
 * secrets with a space between them.
 */
import { verifyWebhook, WebhookRefused } from 'annals/client';
import express from 'express';

const { WEBHOOK_SECRET = '', PORT = '8080' } = process.env;
const secrets = WEBHOOK_SECRET.split(' ').filter((secret) => secret !== '');

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

const app = express();

// The signature covers the original bytes, so `express.json()` must not have parsed them.
app.post('/hooks', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
  try {
    // Express gives an empty object for an empty body.
    await receive(
      await verifyWebhook(request.headers, Buffer.isBuffer(request.body) ? request.body : '', secrets),
    );
    response.sendStatus(204);
  } catch (error) {
    // Express answers any other error with 500, and Annals retries.
    if (!(error instanceof WebhookRefused)) throw error;
    response.sendStatus(401);
  }
});

if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is missing');
app.listen(Number(PORT), () => console.error(`listening on http://localhost:${PORT}`));
