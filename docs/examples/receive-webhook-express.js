/**
 * Receives webhooks with Express. WEBHOOK_SECRET is what the registration has answered; while it is being
 * rotated, both, with a space between them.
 */
import { verifyWebhook, WebhookRefused } from 'annals/client';
import express from 'express';

const { WEBHOOK_SECRET = '', PORT = '8080' } = process.env;
const secrets = WEBHOOK_SECRET.split(' ').filter((secret) => secret !== '');

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

const app = express();

// The signature is over the bytes as they came, so that `express.json()` must not have parsed them before.
app.post('/hooks', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
  try {
    // Express gives an empty object for an empty body.
    await receive(
      await verifyWebhook(request.headers, Buffer.isBuffer(request.body) ? request.body : '', secrets),
    );
    response.sendStatus(204);
  } catch (error) {
    // Express answers everything else with 500, and Annals retries.
    if (!(error instanceof WebhookRefused)) throw error;
    response.sendStatus(401);
  }
});

if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is missing');
app.listen(Number(PORT), () => console.error(`listening on http://localhost:${PORT}`));
