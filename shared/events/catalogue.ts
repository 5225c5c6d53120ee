import type { StreamName } from '#kernel/base/brands.ts';
import type { DataOf, EventDefinition } from '#kernel/base/events/define-event.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { definitionsOf } from '#kernel/events/definitions.ts';
import { type EventReference, eventReferencesOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { WebhookEvents } from '#kernel/webhook/webhook.ts';
import { ADMINISTRATOR_EVENTS } from './administrators.ts';
import type { DeclaredEvents } from './declared.ts';
import { EMAIL_CLAIM_EVENTS } from './email-claim.ts';
import { limitClaimEventsOf } from './limit-claim.ts';
import { RESERVATION_EVENTS } from './reservation.ts';
import { securityEventsOf } from './security.ts';

/** The events of the kernel itself, whatever domain it serves. */
const kernelEventsOf = (domain: Domain) =>
  ({
    ...EMAIL_CLAIM_EVENTS,
    ...ADMINISTRATOR_EVENTS,
    ...RESERVATION_EVENTS,
    ...securityEventsOf(domain),
  }) as const satisfies { readonly [Type in string]: EventDefinition<Type> };

/** Every type of event that was ever written, those of the domain first. */
export type Catalogue = {
  readonly definitions: readonly EventDefinition[];
  /** The definition of a type; undefined if this release does not know it. */
  find(type: string): EventDefinition | undefined;
  /** The kinds of streams; each belongs to one aggregate. */
  readonly kinds: readonly string[];
  /** The kind of a stream; undefined if this release does not know it. */
  kindOf(stream: StreamName): string | undefined;
  /** The types that clients can name. */
  readonly publicTypes: readonly string[];
  /** The kinds of aggregates that public events are about. */
  readonly publicKinds: readonly string[];
  /** The references by which events can be filtered. */
  readonly references: readonly EventReference[];
};

export const catalogueOf = oncePer((domain: Domain): Catalogue => makeCatalogue(domain));

const makeCatalogue = (domain: Domain): Catalogue => {
  const kernel: Readonly<Record<string, EventDefinition>> = {
    ...kernelEventsOf(domain),
    ...limitClaimEventsOf(domain),
  };
  const clash = definitionsOf(domain).find(({ type }) => Object.hasOwn(kernel, type));
  if (clash)
    throw new Error(`The kernel has an event ${clash.type} of its own: give the aggregate another name.`);
  const definitions = [...definitionsOf(domain), ...Object.values(kernel)];
  const byType = new Map(definitions.map((definition) => [definition.type, definition]));
  const published = definitions.filter(({ visibility }) => visibility === 'public');
  const kindsOf = (all: readonly EventDefinition[]) => [...new Set(all.map(({ stream }) => stream.kind))];
  const kinds = kindsOf(definitions);
  const names = new Set(kinds);
  return {
    definitions,
    find: (type) => byType.get(type),
    kinds,
    kindOf(stream) {
      const end = stream.indexOf('-');
      const kind = end < 0 ? '' : stream.slice(0, end);
      return names.has(kind) ? kind : undefined;
    },
    publicTypes: published.map(({ type }) => type),
    publicKinds: kindsOf(published),
    references: eventReferencesOf(domain),
  };
};

type Kernel = ReturnType<typeof kernelEventsOf>;
type KernelEvents = { readonly [Type in keyof Kernel]: DataOf<Kernel[Type]> };
type Events = DeclaredEvents & WebhookEvents & KernelEvents;
export type EventType = keyof Events;

/** The event of a type, or the union of the events of several types. */
export type EventOf<Type extends EventType> = {
  readonly [Each in Type]: { readonly type: Each; readonly data: Events[Each] };
}[Type];

export type AnnalsEvent = EventOf<EventType>;

/** An event of any type, as a domain declares it. */
export type AnyEvent = { readonly type: string; readonly data: JsonObject };
