import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { askAgain } from './ask-again.ts';
import { LogWentBack } from './errors.ts';
import type { EventLog, LogServer } from './event-log.ts';
import { isSameServer, type NewestNote, type NoteFile } from './newest-note.ts';

type Demanding = {
  readonly eventLog: Pick<EventLog, 'eventAt' | 'head' | 'late' | 'markLost' | 'standing'>;
  readonly file: NoteFile;
  readonly clock: Clock;
};

/**
 * Refuses to start on a log that has lost its end while no process ran: positions of the lost events would
 * be used again, and followers would silently miss what is there.
 */
export const demandNewest = async (demanding: Demanding): Promise<void> => {
  const { eventLog, file } = demanding;
  const note = await file.read();
  if (!note) return;
  await demandNoted(demanding, note);
  await demandServer(demanding, note);
  // From now on the log may have later events than the note. A reader may be unable to write there.
  if (note.isFinal)
    await file.write({ ...note, ...(await serverOf(eventLog)), isFinal: false }).catch(() => {});
};

/** Throws if the log lacks the event of the note. */
export const demandNoted = async (
  { eventLog, file }: Pick<Demanding, 'eventLog' | 'file'>,
  note: NewestNote,
): Promise<void> => {
  const found = await findNoted(eventLog, note);
  if (found === note.id) return;
  const cause = new LogWentBack(note, found);
  // Other machines may have no note.
  await eventLog.markLost?.(note).catch(() => {});
  throw new StartRefused(
    `The event log has lost events since ${file.path} was written (${cause.message}): ` +
      'a standby without them was promoted, or an older copy of the data was restored. ' +
      'Follow “The log went back” in docs/runbooks.md.',
    { cause },
  );
};

/** The event at the position of the note. */
export const findNoted = (
  eventLog: Pick<EventLog, 'eventAt' | 'late'>,
  note: Pick<NewestNote, 'position'>,
): ReturnType<EventLog['eventAt']> =>
  askAgain(
    () => eventLog.eventAt(note.position),
    eventLog.late,
    (id) => id !== undefined,
  );

const serverOf = async (
  eventLog: Pick<EventLog, 'standing'>,
): Promise<{ readonly server: LogServer | null }> => ({
  server: (await eventLog.standing?.())?.server ?? null,
});

/** A process that has run meanwhile notes the new server within this time. */
const NOTED_WITHIN_MS = 3_000;

/**
 * Events of the last second before another server took over may be in no note. A process that has run
 * meanwhile has seen them, and has noted the new server.
 */
const demandServer = async ({ eventLog, file, clock }: Demanding, note: NewestNote): Promise<void> => {
  const { server } = await serverOf(eventLog);
  if (!server || !note.server || isSameServer(server, note.server)) return;
  if (note.isFinal && (await eventLog.head()) === note.position) return;
  const isNoted = await askAgain(
    async () => isSameServer((await file.read())?.server ?? null, server),
    { ms: NOTED_WITHIN_MS, clock },
    (isSame) => isSame,
  );
  if (isNoted) return;
  throw new StartRefused(
    `The event log is on another PostgreSQL server (${nameOf(server)}) than ${file.path} says ` +
      `(${nameOf(note.server)}): a standby was promoted, or a backup was restored, while nothing of Annals ran, ` +
      'and the last events before that may be lost. Follow “Another server has taken over” in docs/runbooks.md: ' +
      '`npm run annals -- log accept-server` if nothing was lost, `log renew` otherwise.',
  );
};

const nameOf = ({ system, timeline }: LogServer): string => `${system}, timeline ${timeline}`;
