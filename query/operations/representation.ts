import type { Position, StreamName } from '#kernel/base/brands.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { ParkedTask } from '#process/operations/consequences.ts';
import type { OpenHold as Hold } from '#process/operations/holds.ts';
import type { InstallationState } from '#process/operations/installation-state.ts';
import type { ListedSchedule } from '#process/operations/schedules.ts';
import type { RunningTimer as Timer } from '#process/operations/timers.ts';
import { cursorAt, type SeeingLog } from '#shared/event-log/own-cursor.ts';
import { isCut, type Listed } from '#shared/read-model/parked.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import type {
  OpenHold,
  OperationsStatus,
  OperatorCommand,
  ParkedConsequence,
  ParkedItem,
  RunningTimer,
  ScheduleStatus,
} from '#shared/rest/operator.ts';
import { pathOf } from '../time-travel/aggregates.ts';
import type { OperatorCommandRow } from './lists.ts';

type Shown = { readonly domain: Domain; readonly eventLog: SeeingLog; readonly mayManage: boolean };

export const representStanding = (
  { head, readModel, followers, consequences, webhooks }: InstallationState,
  { domain, eventLog, mayManage, at }: Shown & { readonly at: Date },
): OperationsStatus => {
  const cursor = (position: Position) => cursorAt(eventLog, position);
  const { position, rebuild, ...rest } = readModel;
  return {
    at: at.toISOString(),
    log: { cursor: cursor(head) },
    readModel: {
      cursor: cursor(position),
      ...rest,
      rebuild: rebuild === null ? null : { cursor: cursor(rebuild) },
    },
    followers: followers.map(({ name, position: reached, behindSeconds, isRunning }) => ({
      name,
      cursor: reached === null ? null : cursor(reached),
      behindSeconds,
      isRunning,
    })),
    consequences,
    ...(webhooks && {
      webhooks: { ...webhooks, failingSince: webhooks.failingSince?.toISOString() ?? null },
    }),
    _links: {
      self: { href: '/operations' },
      samples: { href: '/operations/samples' },
      parked: { href: '/operations/parked' },
      consequences: { href: '/operations/consequences' },
      orders: { href: '/operations/orders' },
      ...(Object.hasOwn(operationsOf(domain), 'listRefusedMessages') && {
        inbox: { href: '/operations/inbox' },
      }),
      ...(serves(domain, 'proof') && {
        audit: { href: '/audit/status' },
        ...(mayManage && { verify: { href: '/audit/verifications', method: 'POST' } }),
      }),
    },
  };
};

export const representParked = (
  { stream, version, type, position, reason, since }: Listed,
  { domain, eventLog, mayManage }: Shown,
): ParkedItem => {
  return {
    ...{
      stream,
      version,
      type,
      cursor: cursorAt(eventLog, position),
      reason,
      since: since.toISOString(),
    },
    _links: {
      ...itemLinks(domain, stream),
      ...(mayManage && {
        retry: { href: `/operations/parked/${stream}/retry`, method: 'POST' },
        ...(!isCut({ reason }) && {
          release: { href: `/operations/parked/${stream}/release`, method: 'POST' },
        }),
      }),
    },
  };
};

export const representConsequence = (domain: Domain, parked: ParkedTask): ParkedConsequence => {
  const { task, name, stream, causeId, reason, attempts, parkedAt, nextAt, skippedAt } = parked;
  return {
    ...{
      task,
      ...(name !== null && { name }),
      stream,
      cause: causeId,
      reason,
      attempts,
      since: parkedAt.toISOString(),
    },
    nextAt: skippedAt === null ? nextAt.toISOString() : null,
    skippedAt: skippedAt?.toISOString() ?? null,
    _links: itemLinks(domain, stream),
  };
};

export const representTimer = (
  domain: Domain,
  { stream, name, causeId, dueAt, leftSeconds }: Timer,
): RunningTimer => ({
  ...{ stream, name, cause: causeId, dueAt: dueAt?.toISOString() ?? null, leftSeconds },
  _links: itemLinks(domain, stream),
});

export const representHold = (
  domain: Domain,
  { stream, hold, reason, placedBy, placedAt }: Hold,
): OpenHold => ({
  ...{ stream, hold, reason, placedBy, placedAt: placedAt.toISOString() },
  _links: itemLinks(domain, stream),
});

export const representSchedule = ({
  nextAt,
  lastAt,
  missedAt,
  ...schedule
}: ListedSchedule): ScheduleStatus => ({
  ...schedule,
  ...{ nextAt: isoOf(nextAt), lastAt: isoOf(lastAt), missedAt: isoOf(missedAt) },
});

const isoOf = (time: Date | null): string | null => time?.toISOString() ?? null;

/** Links to aggregates that are readable over REST. */
const itemLinks = (domain: Domain, stream: string): Readonly<Record<string, { href: string }>> => {
  const { table, id = 0 } = tablesOf(domain).rowOf(stream as StreamName) ?? {};
  if (table === undefined) return {};
  const item = pathOf(domain, table.kind, id);
  return { item: { href: item }, history: { href: `${item}/history` } };
};

export const representOperatorCommand = (command: OperatorCommandRow): OperatorCommand => {
  const {
    id,
    kind,
    stream,
    version,
    by,
    requestedAt,
    startedAt,
    finishedAt,
    state,
    outcome,
    done,
    of,
    report = null,
  } = command;
  return {
    ...{
      id,
      kind,
      ...(stream !== null && { stream }),
      ...(version !== null && { version }),
      by: by as OperatorCommand['by'],
    },
    requestedAt: requestedAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    state,
    outcome,
    ...(done !== null && { progress: { done, of } }),
    ...(report !== null && { report: JSON.parse(report) }),
    _links: { self: { href: `/operations/orders/${id}` } },
  };
};
