import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Event } from '#shared/rest/events.ts';
import { useApi, useEvery } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge } from '../base/parts.ts';
import { follow } from './follow.ts';

/** Events within this time count as one change. */
const GATHERED_MS = 400;
/** Opening a stream takes a moment, during which the page does not count as cut off. */
const CUT_OFF_AFTER_MS = 3_000;
const POLL_EVERY_MS = 10_000;

/** Calls back for each event that matches the query, and whenever events may have been missed. */
export const useChanges = (query: string | undefined, onChange: (event?: Event) => void): void =>
  useStream(query && `/events?${query}`, onChange);

/**
 * Calls back for each message of a stream; while the stream is cut off, at an interval. The stream is closed
 * while the tab is hidden, and calls back when it becomes visible.
 */
export const useStream = (asked: string | undefined, onChange: (event?: Event) => void): void => {
  const api = useApi();
  const isSeen = useIsSeen();
  const path = isSeen ? asked : undefined;
  const latest = useRef(onChange);
  latest.current = onChange;
  const [isCutOff, setCutOff] = useState(false);
  useEffect(() => {
    if (path === undefined) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: Event | undefined;
    let isLive = false;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const notify = (event?: Event) => {
      last = event ?? last;
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current(last);
      }, GATHERED_MS);
    };
    const onState = (state: unknown) => {
      const wasLive = isLive;
      isLive = state === 'live';
      if (!isLive) {
        silence ??= setTimeout(() => setCutOff(true), CUT_OFF_AFTER_MS);
        return;
      }
      clearTimeout(silence);
      silence = undefined;
      setCutOff(false);
      if (!wasLive) notify();
    };
    void follow(api, { path, signal: leaving.signal, onEvent: notify, onState, startsLive: true });
    return () => {
      leaving.abort();
      clearTimeout(timer);
      clearTimeout(silence);
      setCutOff(false);
    };
  }, [api, path]);
  const poll = useCallback(() => latest.current(), []);
  useEvery(isCutOff ? POLL_EVERY_MS : undefined, poll);
  useEffect(() => {
    if (!isCutOff) return;
    cutOff.dispatchEvent(new CustomEvent('change', { detail: 1 }));
    return () => void cutOff.dispatchEvent(new CustomEvent('change', { detail: -1 }));
  }, [isCutOff]);
};

/** True while the tab is visible. */
export const useIsSeen = (): boolean => {
  const [isSeen, setSeen] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const look = () => setSeen(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isSeen;
};

/** Counts the streams of the page that are cut off. */
const cutOff = new EventTarget();

/** Says that the page may be some seconds old. */
export const NotLive = () => {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const take = (event: globalThis.Event) =>
      setCount((before) => before + (event as CustomEvent<number>).detail);
    cutOff.addEventListener('change', take);
    return () => cutOff.removeEventListener('change', take);
  }, []);
  return html`<span role="status">${
    count > 0 &&
    html`<span title="The connection for live updates is cut off. Until it is there again, this page looks every ten seconds."><${Badge} tone="warn">not live<//></span>`
  }</span>`;
};
