import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Event } from '#shared/rest/events.ts';
import { useEvery } from '../base/asking.ts';
import { afterNews, CALM, PAUSES_MS } from '../base/pacing.ts';
import { useIsSeen, useStream } from './live.ts';

/** For changes that no event announces. */
const SLOW_MS = 60_000;
const AFTER_DUE_MS = 1_000;
const DAY_MS = 86_400_000;

type Options = {
  /** The events to follow; undefined stops all requests. */
  readonly query: string | undefined;
  /** The data read, without parts that differ in each response. If it changes, more changes may follow. */
  readonly sign: unknown;
  /** The time of the next planned change, such as the retry of a delivery. */
  readonly dueAt?: string | null | undefined;
  readonly slowMs?: number;
};

/**
 * Refreshes data that changes after events but has none of its own, such as deliveries. After an event, at
 * `dueAt`, and after each change found, it requests several times with growing pauses. The stream is closed
 * meanwhile, so that a page does not receive all events of a busy installation. A change during such a series
 * prolongs it without short pauses: on a busy installation each request finds one.
 *
 * The result changes with each request outside of these series: the other parts of a page, which refresh when
 * `sign` changes, refresh with it too. One of them may have been read before a change, and `sign` after it.
 */
export const useFresh = (
  ask: (event?: Event) => void,
  { query, sign, dueAt, slowMs = SLOW_MS }: Options,
): number => {
  const isSeen = useIsSeen();
  const [step, setStep] = useState<number>(CALM);
  const [turn, setTurn] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const again = useCallback((event?: Event) => latest.current(event), []);
  const isOn = query !== undefined && isSeen;
  useTimer(isOn ? PAUSES_MS[step] : undefined, step, () => {
    again();
    setStep(step + 1);
  });
  useChanged(isOn ? sign : undefined, () => setStep(afterNews));
  useTimer(isOn ? untilDue(dueAt) : undefined, dueAt, () => {
    // A backlog has another due time in each response.
    if (step === CALM) again();
    setStep(afterNews);
  });
  useStream(isOn && step === CALM ? `/events?${query}` : undefined, (event) => {
    again(event);
    if (event === undefined) setTurn((before) => before + 1);
    else setStep(afterNews);
  });
  const look = useCallback(() => {
    again();
    setTurn((before) => before + 1);
  }, [again]);
  useEvery(query !== undefined && step === CALM ? slowMs : undefined, look);
  return turn;
};

const untilDue = (dueAt: string | null | undefined): number | undefined => {
  if (!dueAt) return undefined;
  const ms = Math.max(0, Date.parse(dueAt) - Date.now()) + AFTER_DUE_MS;
  return ms > DAY_MS ? undefined : ms;
};

/** Acts once after a time. Another key restarts the timer, another time does not. */
const useTimer = (ms: number | undefined, key: unknown, act: () => void): void => {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (ms === undefined) return undefined;
    const timer = setTimeout(() => latest.current(), ms);
    return () => clearTimeout(timer);
  }, [ms === undefined, key]);
};

/** Acts when a known value has changed. */
export const useChanged = (sign: unknown, act: () => void): void => {
  const text = JSON.stringify(sign);
  const before = useRef(text);
  useEffect(() => {
    const isChange = before.current !== undefined && text !== undefined && before.current !== text;
    if (text !== undefined) before.current = text;
    if (isChange) act();
  }, [text]);
};
