import { demandedLine } from '#kernel/base/values.ts';

export const name = demandedLine(100);
