/**
 * Receives webhooks with Express. WEBHOOK_SECRET is what the registration has answered; while it is being rotated, both, with a space
 * between them.
 */
import { verifyWebhook, WebhookRefused } from 'annals/client';
import express from 'express';

const { WEBHOOK_SECRET = '', PORT = '8080' } = process.env;
const secrets = WEBHOOK_SECRET.split(' ').filter((secret) => secret !== '');

/** What has come already. Yours is a table with a unique id, written in one transaction with whatever you do about an event. */
const seen = new Set();

/** Quick, because the answer waits for it: what takes long is done later, by whatever works off the table. */
const receive = (event) => {
  if (seen.has(event.id)) return;
  seen.add(event.id);
  console.log(event.id, event.type, event.subject);
};

const app = express();

// The signature is over the bytes as they came, so that `express.json()` must not have parsed them before.
app.post('/hooks', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
  try {
    // Express gives an empty object for an empty body.
    receive(await verifyWebhook(request.headers, Buffer.isBuffer(request.body) ? request.body : '', secrets));
    response.sendStatus(204);
  } catch (error) {
    // Whatever else goes wrong is answered by 500, and the event is sent again.
    if (!(error instanceof WebhookRefused)) throw error;
    response.sendStatus(401);
  }
});

app.listen(Number(PORT), () => console.error(`listening on http://localhost:${PORT}`));
