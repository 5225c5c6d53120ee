import * as z from 'zod';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { WebhookFormat } from '#kernel/webhook/webhook-fields.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { OpenChange } from '#shared/change-stream/open-change.ts';
import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { notingChanges } from '#shared/read-log/note-change.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import type { IsReadable } from '#shared/visibility/present-rights.ts';
import { idsIn, seesAll, withoutPrivate } from '#shared/visibility/visible-data.ts';
import type { Outgoing, Owner, Shape } from './delivery.ts';
import type { IsParked } from './is-parked.ts';
import { type Written, writeAs } from './write-as.ts';

/**
 * The body to send; or none, because the owner may no longer read what the first attempt contained, or
 * because nobody can read it now.
 */
type Composed =
  | (Written & {
      readonly kind: 'body';
      readonly shape: Shape;
      /** Those of the event that it shows beside ids. */
      readonly fields?: readonly string[];
    })
  | { readonly kind: 'withheld' }
  | { readonly kind: 'waiting' };

export type ComposeBody = (
  outgoing: Pick<Outgoing, 'owner'> & {
    readonly delivery: Pick<Outgoing['delivery'], 'change' | 'shape'>;
    readonly endpoint: Pick<Outgoing['endpoint'], 'payload' | 'format'>;
  },
) => Promise<Composed>;

type Dependencies = {
  readonly domain: Domain;
  readonly log: NamingLog;
  readonly open: OpenChange;
  readonly isReadable: IsReadable;
  readonly isParked: IsParked;
  /** The URL by which receivers know this installation. */
  readonly publicUrl: string;
};

/** Longer bodies are reduced to ids. */
const BODY_BYTES_MAX = 262_144;

/**
 * Composes the body of a delivery, with the same bytes at every attempt: the first attempt fixes the shape.
 * If the owner may no longer read that shape, nothing is sent, not a smaller part.
 */
export const createComposer = ({
  domain,
  log,
  open,
  isReadable,
  isParked,
  publicUrl,
}: Dependencies): ComposeBody => {
  const catalogue = catalogueOf(domain);
  const write = (change: Change, data: JsonObject, format: WebhookFormat): Written => {
    const { id, type, schemaVersion: version, at, importedAt, reason, signature } = change;
    const { position, stream: subject } = change;
    const cursor = cursorOf(log, position, id);
    return writeAs(
      format,
      { ...{ id, type, version, at, importedAt, reason, signature, cursor }, subject, data },
      publicUrl,
    );
  };

  /** Shared by all deliveries of a change in one format that contain ids only. */
  const sharedIn = (format: WebhookFormat) =>
    oncePer(
      (change: Change): Composed => ({
        kind: 'body',
        ...write(change, idsIn(domain, change, change.data), format),
        shape: 'ids',
      }),
    );
  const byIdsIn = {
    annals: sharedIn('annals'),
    cloudevents: sharedIn('cloudevents'),
    cloudevents_binary: sharedIn('cloudevents_binary'),
  } satisfies Record<WebhookFormat, unknown>;

  /** The data that the owner may read now, in the widest shape; undefined if only ids are readable. */
  const readableData = async (
    change: Change,
    owner: Owner,
  ): Promise<{ shape: Shape; data: JsonObject } | undefined> => {
    if (!(await isReadable(owner, change.stream))) return undefined;
    const data = await open(change);
    if (!isWhole(catalogue.find(change.type), data)) return undefined;
    return (await seesAll({ domain, caller: owner, isReadable }, change, data))
      ? { shape: 'full', data }
      : { shape: 'public', data: withoutPrivate(domain, change, data) };
  };

  const compose: ComposeBody = async ({ delivery: { change, shape: settled }, endpoint, owner }) => {
    if (!maySee(owner, change)) return { kind: 'withheld' };
    const { payload, format } = endpoint;
    const byIds = byIdsIn[format];
    if (settled === 'ids' || (settled === null && payload === 'thin')) return byIds(change);
    const readable = await readableData(change, owner);
    if (settled === null) {
      const written = readable && write(change, readable.data, format);
      return written && written.bytes.length <= BODY_BYTES_MAX
        ? { kind: 'body', ...written, shape: readable.shape, fields: Object.keys(readable.data) }
        : byIds(change);
    }
    if (!readable && (await isParked(change))) return { kind: 'waiting' };
    if (!readable || (settled === 'full' && readable.shape !== 'full')) return { kind: 'withheld' };
    const data = settled === 'public' ? withoutPrivate(domain, change, readable.data) : readable.data;
    return { kind: 'body', ...write(change, data, format), shape: settled, fields: Object.keys(data) };
  };
  const note = notingChanges(domain);
  return async (outgoing) => {
    const composed = await compose(outgoing);
    if (composed.kind === 'body') note(outgoing.delivery.change, composed.fields ?? []);
    return composed;
  };
};

/** True if no field was erased or is damaged. Fields that only some events of the type have may be absent. */
const isWhole = (definition: EventDefinition | undefined, data: JsonObject): boolean => {
  const { fields = [], concealed = [] } = definition?.personal ?? {};
  const shape = definition?.schema.shape ?? {};
  return fields.every((field) => {
    if (concealed.includes(field)) return true;
    return Object.hasOwn(data, field)
      ? shape[field]?.safeParse(data[field]).success
      : shape[field] instanceof z.ZodExactOptional;
  });
};
