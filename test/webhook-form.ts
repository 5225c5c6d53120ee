/** A complete form of a webhook, so that a test says only what it is about. */
export const WEBHOOK_FORM = {
  url: 'https://example.com/hooks',
  description: null,
  eventTypes: ['*'],
  filter: {},
  payload: 'thin',
  ordered: false,
  enabled: true,
  limits: { ratePerSecond: 50, concurrency: 10 },
  headers: {},
} as const;
