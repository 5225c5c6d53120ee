/** Commands that were one request of REST, with the operation that sends it. */
export const REPLACED: ReadonlyMap<string, string> = new Map([
  ['users list', 'api listUsers'],
  ['users find', 'api listUsers --q <text>'],
  ['webhooks enable', 'api enableWebhook <id>'],
  ['webhooks disable', 'api disableWebhook <id>'],
  ['deliveries list', 'api searchDeliveries'],
]);
