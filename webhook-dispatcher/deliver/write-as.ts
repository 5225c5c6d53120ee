import type { Json } from '#kernel/base/json.ts';
import { CLOUD_EVENT_TYPE } from '#kernel/base/rest/cloud-event-types.ts';
import type { WebhookFormat } from '#kernel/webhook/webhook-fields.ts';
import { attributeHeaders, cloudEventOf, type Represented } from '#shared/rest/cloud-events.ts';

/** The body of a request, and the headers that belong to it. */
export type Written = { readonly bytes: Buffer; readonly headers: Readonly<Record<string, string>> };

/** An event as the request of a webhook, in the format that its owner has chosen. */
export const writeAs = (format: WebhookFormat, event: Represented, publicUrl: string): Written => {
  switch (format) {
    case 'annals':
      return { bytes: bytesOf(event), headers: { 'content-type': 'application/json' } };
    case 'cloudevents':
      return {
        bytes: bytesOf(cloudEventOf(event, publicUrl)),
        headers: { 'content-type': CLOUD_EVENT_TYPE },
      };
    case 'cloudevents_binary': {
      const { data = null, ...attributes } = cloudEventOf(event, publicUrl);
      return { bytes: bytesOf(data), headers: attributeHeaders(attributes) };
    }
  }
};

const bytesOf = (value: Json | Represented): Buffer => Buffer.from(JSON.stringify(value));
