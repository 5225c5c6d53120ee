/** The filters of deliveries, with the same names in the address and in the query of the interface. */
const FILTERS = ['webhookId', 'state', 'type', 'subject', 'eventId', 'since', 'until'] as const;
export type FilterName = (typeof FILTERS)[number];

export const queryOf = (
  search: URLSearchParams,
  fixed: Readonly<Record<string, string>> = {},
): URLSearchParams => {
  const query = new URLSearchParams();
  for (const name of FILTERS) {
    const text = (fixed[name] ?? search.get(name) ?? '').trim();
    if (text !== '') query.set(name, text);
  }
  return query;
};

/** The address with changed filters. */
export const withFilters = (
  search: URLSearchParams,
  changes: Partial<Readonly<Record<FilterName, string>>>,
): string => {
  const changed = new URLSearchParams(search);
  for (const [name, text] of Object.entries(changes)) {
    if (text === '') changed.delete(name);
    else changed.set(name, text);
  }
  return changed.size === 0 ? '' : `?${changed}`;
};

const HOUR_MS = 3_600_000;

/** Local midnight, this many days ago. */
const dayBefore = (now: Date, days: number): string =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).toISOString();

/** The usual time spans, with their start and end. */
export const spansAt = (now: Date): readonly (readonly [label: string, since: string, until: string])[] => [
  ['Any time', '', ''],
  ['Last hour', new Date(now.getTime() - HOUR_MS).toISOString(), ''],
  ['Today', dayBefore(now, 0), ''],
  ['Yesterday', dayBefore(now, 1), dayBefore(now, 0)],
  ['Last 7 days', dayBefore(now, 7), ''],
];
