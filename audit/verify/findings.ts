import type { Finding, Report } from '#shared/audit/verification-report.ts';

/** All are counted, and so many of each kind are kept. */
const LISTED_PER_KIND_MAX = 20;

export type Findings = {
  add(finding: Finding): void;
  /** More of a kind, of which nothing but their number is known. */
  addUnlisted(kind: Finding['kind'], count: number): void;
  /** Whether another one of the kind would be kept, for who has work with it. */
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
