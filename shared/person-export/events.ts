import type { UserId } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { type EventMetadata, readMetadata } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { wire } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { isUser, leadsToUser } from '#kernel/base/users.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { recordedKindsOf } from '#kernel/webhook/managed-kinds.ts';
import { eventsSince, readEnds } from '#shared/erasure/events-since.ts';
import type { UploadsOf } from '#shared/erasure/uploads.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Codec, createCodec, subjectOf } from '#shared/events/codec.ts';
import { decodeClear } from '#shared/events/decode-clear.ts';
import type { PersonExportDependencies } from './section.ts';

type Asked = { readonly userId: UserId; readonly uploads: Pick<UploadsOf, 'take'> };

/** The events that are about a person, from their first one on. */
export async function* eventsOfPerson(
  { domain, eventLog, keys }: Pick<PersonExportDependencies, 'domain' | 'eventLog' | 'keys'>,
  { userId, uploads }: Asked,
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  const codec = createCodec({ keys, domain });
  const { first } = await readEnds(eventLog, userId);
  for await (const page of eventsSince(eventLog, first, signal)) {
    for (const event of page) {
      uploads.take(event);
      if (subjectOf(event) === userId) yield await ownEvent(codec, domain, { event, userId });
      else {
        const shown = otherEvent(domain, event, userId);
        if (shown !== undefined) yield shown;
      }
    }
  }
}

type Own = { readonly event: RecordedEvent; readonly userId: UserId };

/** An event with personal data of the person, opened; without the secrets that nobody sees. */
const ownEvent = async (codec: Codec, domain: Domain, { event, userId }: Own): Promise<JsonObject> => {
  const definition = catalogueOf(domain).find(event.type);
  try {
    const [decoded] = await codec.decodeAll([event]);
    if (decoded === undefined || definition === undefined) return unreadable(event);
    const secret = new Set<string>(definition.personal?.concealed);
    const data = Object.entries(decoded.data as JsonObject).filter(([name]) => !secret.has(name));
    return { ...headOf(event, decoded.metadata, userId), data: Object.fromEntries(data) };
  } catch {
    return unreadable(event);
  }
};

/** Damaged, or of a release that this one does not know. Nobody else can read it either. */
const unreadable = ({ id, type, stream, recordedAt }: RecordedEvent): JsonObject => ({
  ...{ id, type, item: stream, at: recordedAt.toISOString() },
  unreadable: true,
});

/** An event without personal data of the person; undefined if it is not about them. */
const otherEvent = (domain: Domain, event: RecordedEvent, userId: UserId): JsonObject | undefined => {
  const isTheirs = event.metadata.actor === `user:${userId}`;
  const definition = catalogueOf(domain).find(event.type);
  const names = namesOf(domain, definition, event);
  const naming = names.users.filter((name) => event.data[name] === userId);
  if (!isTheirs && naming.length === 0) return undefined;
  const clear = decodeClear(catalogueOf(domain), event);
  if (clear === undefined) return unreadable(event);
  const head = headOf(event, readMetadata(event.metadata), userId);
  const isOfTheirs = names.owner !== undefined && event.data[names.owner] === userId;
  const isShown = definition?.visibility === 'public' && (isTheirs || isOfTheirs);
  return isShown ? { ...head, data: clear.data } : { ...withoutReason(head), namedAs: naming };
};

const withoutReason = ({ reason: _, ...head }: JsonObject): JsonObject => head;

/** Other people are named by nothing but their being others. */
const headOf = (
  { id, type, stream }: RecordedEvent,
  { at, actor, client, request, reason, importedAt }: EventMetadata,
  userId: UserId,
): JsonObject => {
  const isTheirs = actor === `user:${userId}`;
  return {
    ...{ id, type, at, item: stream },
    ...(importedAt !== undefined && { importedAt }),
    by: isTheirs ? 'the person' : actor.startsWith('user:') ? 'another user' : actor,
    ...(isTheirs && { client, request }),
    ...(reason !== undefined && { reason }),
  };
};

type Names = {
  /** The fields that name users. */
  readonly users: readonly string[];
  /** The field with the user whom the event is about. */
  readonly owner: string | undefined;
};

const NOBODY: Names = { users: [], owner: undefined };

const namesOf = (domain: Domain, definition: EventDefinition | undefined, event: RecordedEvent): Names => {
  if (definition === undefined) return NOBODY;
  const { visibleTo, stream, personal } = definition;
  const kind = namesOfKinds(domain).get(stream.kind);
  // Of a kernel event, as of accounts and sessions.
  if (kind === undefined)
    return { users: [...new Set(['userId', visibleTo?.owner ?? 'userId'])], owner: visibleTo?.owner };
  // The item of another person, if this one only owns it.
  const subject = subjectOf(event) === null ? undefined : personal?.subject;
  return { users: kind.users, owner: subject ?? kind.owner };
};

const namesOfKinds = oncePer(
  (domain: Domain): ReadonlyMap<string, Names> =>
    new Map(recordedKindsOf(domain).map((kind) => [kind.name, namesOfKind(kind)])),
);

const namesOfKind = (kind: Kind): Names => {
  const users = [kind.fields, ...Object.values(kind.lists).map(({ fields }) => fields)].flatMap((fields) =>
    Object.entries(fields).flatMap(([name, def]) => (leadsToUser(def) ? [wire(name, def)] : [])),
  );
  if (isUser(kind)) return { users: ['userId', ...users], owner: 'userId' };
  const owner = [kind.owner, kind.parent].find((name) => {
    const def = name === undefined ? undefined : kind.fields[name];
    return def !== undefined && leadsToUser(def);
  });
  return {
    users: [...new Set(users)],
    owner: owner === undefined ? undefined : wire(owner, kind.fields[owner]),
  };
};
