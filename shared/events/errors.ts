import type { EventId, Position } from '#kernel/base/brands.ts';

/** For an event that cannot be opened, though its person was not erased. */
export const KEY_LOST = 'the key of its person is missing';

/** The log has an event of a type that this release does not know. */
export class UnknownEventType extends Error {
  readonly code = 'unknown_event_type';
  readonly type: string;
  readonly id: EventId;
  readonly position: Position;

  constructor({ type, id, position }: { type: string; id: EventId; position: Position }) {
    super(`Event ${id} at position ${position} has the unknown type ${JSON.stringify(type)}`);
    this.name = 'UnknownEventType';
    this.type = type;
    this.id = id;
    this.position = position;
  }
}

type Malformed = {
  readonly type: string;
  /** Of the type; `null` if the metadata does not state it. */
  readonly version: number | null;
  readonly id: EventId;
  /** `null` for an event that was not recorded yet. */
  readonly position: Position | null;
  /** Names fields and rules, never content, because content may be personal. */
  readonly reason: string;
};

/** The event violates its definition, or was changed after it was sealed. */
export class MalformedEvent extends Error {
  readonly code: 'malformed_event' | 'foreign_record' | 'event_not_authentic' = 'malformed_event';
  readonly type: string;
  readonly version: number | null;
  readonly id: EventId;
  readonly position: Position | null;

  constructor({ type, version, id, position, reason }: Malformed) {
    const place = position === null ? 'not recorded yet' : `at position ${position}`;
    super(`Event ${id} (${type}, version ${version ?? 'unknown'}, ${place}) is malformed: ${reason}`);
    this.name = 'MalformedEvent';
    this.type = type;
    this.version = version;
    this.id = id;
    this.position = position;
  }
}

/** A record that Annals has not written, in one of its streams: its metadata is not that of our events. */
export class ForeignRecord extends MalformedEvent {
  override readonly code: 'foreign_record' | 'event_not_authentic' = 'foreign_record';

  constructor(malformed: Omit<Malformed, 'version'>) {
    super({ ...malformed, version: null });
    const { type, id, position, reason } = malformed;
    this.name = 'ForeignRecord';
    this.message = `foreign_record: event ${id} (${type}, at position ${position}) was not written by Annals: ${reason}`;
  }
}

/** A record with the form of one of our events that no command wrote: somebody has inserted or changed it. */
export class NotAuthentic extends ForeignRecord {
  override readonly code = 'event_not_authentic';

  constructor(malformed: Omit<Malformed, 'version' | 'reason'>) {
    super({ ...malformed, reason: 'its MAC is missing or wrong' });
    const { type, id, position } = malformed;
    this.name = 'NotAuthentic';
    this.message = `event_not_authentic: no command wrote event ${id} (${type}, at position ${position}): its MAC is missing or wrong`;
  }
}
