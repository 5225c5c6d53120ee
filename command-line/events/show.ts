import { plural } from '#shared/format.ts';
import type { Event } from '#shared/rest/events.ts';
import type { EventTrace, RecordedEvent } from '#shared/rest/recorded-event.ts';
import type { Command } from '../arguments/command.ts';
import { cellOf } from '../output/columns.ts';
import { type Paint, paintOf } from '../output/paint.ts';
import { REMOTE_OPTIONS, withRemote } from '../remote/remote.ts';
import { eventIdOf } from './event-id.ts';
import { actorText, subjectText, summaryLine } from './lines.ts';
import { createNames, type Names } from './names.ts';

export const eventsShow: Command = {
  name: 'events show',
  summary:
    'Shows one event: its actor, time, request, cause and data, its place in the chain, and its deliveries.',
  positionals: ['<id>'],
  options: {
    trace: { type: 'boolean', description: 'Also shows all events that followed from the same request.' },
    ...REMOTE_OPTIONS,
  },
  examples: ['events show 01985f3e-…', 'events show 01985f3e-… --trace'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const id = eventIdOf(given);
      const event = await remote.get<RecordedEvent>(`/events/${id}`);
      const trace = given.flags.has('trace')
        ? await remote.get<EventTrace>(`/events/${id}/trace`)
        : undefined;
      if (given.flags.has('json'))
        return terminal.write(JSON.stringify({ ...event, ...(trace && { trace }) }));
      const paint = paintOf(terminal);
      const names = createNames(remote, terminal.domain);
      const lines = [...(await eventLines(event, paint, names)), ...(await traceLines(trace, paint, names))];
      for (const line of lines) await terminal.write(line);
    }),
};

const LABEL_WIDTH = 12;

const eventLines = async (event: RecordedEvent, paint: Paint, names: Names): Promise<readonly string[]> => {
  const {
    id,
    type,
    at,
    importedAt,
    reason,
    signature,
    subject,
    streamVersion,
    actor,
    client,
    request,
    correlation,
    causation,
    data,
    chain,
    deliveries = [],
    cursor,
  } = event;
  const row = (label: string, text: string | null | undefined): readonly string[] =>
    text === null || text === undefined
      ? []
      : [`${paint('soft', label.padEnd(LABEL_WIDTH))}${cellOf(text, Number.POSITIVE_INFINITY)}`];
  return [
    paint('strong', cellOf(type)),
    ...row('ID', id),
    ...row('Time', at),
    ...row('Imported', importedAt),
    ...row('Reason', reason),
    ...row(
      'Signed',
      signature &&
        `by ${signature.by} as ${signature.meaning}, with a ${signature.means}, at ${signature.at}`,
    ),
    ...row('Item', `${await subjectText(subject, names)}, version ${streamVersion}`),
    ...row('By', await actorText(actor, names)),
    ...row('Client', client),
    ...row('Request', request),
    ...row('Correlation', correlation),
    ...row('Cause', causation),
    ...row('Cursor', cursor),
    ...row('Proof', chain && proofText(chain)),
    ...deliveries.flatMap(({ webhookId, state, attempts, lastError }) =>
      row(
        'Delivery',
        `to webhook ${webhookId}: ${state} after ${plural(attempts, 'attempt')}${lastError === null ? '' : `, ${lastError}`}`,
      ),
    ),
    ...JSON.stringify(data, undefined, 2)
      .split('\n')
      .map((line) => cellOf(line, Number.POSITIVE_INFINITY)),
  ];
};

const proofText = ({ count, signed }: NonNullable<RecordedEvent['chain']>): string => {
  if (count === null) return 'not in the chain yet';
  return `event ${count} of the chain, ${signed === null ? 'no signed head covers it yet' : `signed ${signed.at}${signed.outside ? ', kept outside the database' : ''}`}`;
};

const traceLines = async (
  trace: EventTrace | undefined,
  paint: Paint,
  names: Names,
): Promise<readonly string[]> => {
  if (trace === undefined) return [];
  return [
    '',
    paint(
      'strong',
      `From the same request: ${plural(trace.events.length, 'event')}${trace.truncated ? ', and more' : ''}`,
    ),
    ...(await Promise.all(trace.events.map((event) => summaryLine(event as Event, paint, names)))),
  ];
};
