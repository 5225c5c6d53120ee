import { demandedLine } from '#kernel/declare/values.ts';

export const name = demandedLine(100);
