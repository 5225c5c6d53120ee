import { assemble } from '#kernel/assembly/assemble.ts';
import { article } from './article.ts';
import * as base from './base.ts';
import { comment } from './comment.ts';

export const publishing = assemble(base, [article, comment]);
