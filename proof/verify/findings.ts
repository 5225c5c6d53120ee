import type { Finding, Report } from '#shared/rest/verification-report.ts';

/** All findings are counted; this many of each kind are listed. */
const LISTED_PER_KIND_MAX = 20;

export type Findings = {
  add(finding: Finding): void;
  /** Counts further findings of a kind without details. */
  addUnlisted(kind: Finding['kind'], count: number): void;
  /** True if another finding of the kind would be listed, so that its details are worth computing. */
  isWanted(kind: Finding['kind']): boolean;
  summary(): Report['findings'];
};

export const createFindings = (): Findings => {
  const listed: Finding[] = [];
  const byKind = new Map<string, number>();
  const kept = new Map<string, number>();
  const countOne = (counts: Map<string, number>, kind: string, by = 1) =>
    counts.set(kind, (counts.get(kind) ?? 0) + by);
  const isWanted = (kind: string) => (kept.get(kind) ?? 0) < LISTED_PER_KIND_MAX;
  return {
    isWanted,
    add(finding) {
      countOne(byKind, finding.kind);
      if (!isWanted(finding.kind)) return;
      countOne(kept, finding.kind);
      listed.push(finding);
    },
    addUnlisted(kind, count) {
      if (count > 0) countOne(byKind, kind, count);
    },
    summary: () => ({
      total: [...byKind.values()].reduce((sum, each) => sum + each, 0),
      byKind: Object.fromEntries(byKind),
      listed,
    }),
  };
};
