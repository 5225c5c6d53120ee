import type { RequestHandler } from 'express';
import MiniSearch from 'minisearch';
import { answerDocument } from '#edge/pages/answer-document.ts';
import type { DocsPage } from '../page/page.ts';
import { sectionsOf } from './sections.ts';

export const INDEX_PATH = '/docs/search-index';

/** Sent with the index, because the browser must search as the server has indexed. */
const OPTIONS = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['path', 'page', 'heading', 'start'],
  // From five characters on, one may be wrong.
  searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.1, combineWith: 'AND' as const },
};

/** The index of all pages, as the browser loads it. */
export const answerIndex = async (pages: readonly DocsPage[]): Promise<RequestHandler> => {
  const index = new MiniSearch(OPTIONS);
  for (const page of pages) index.addAll(sectionsOf(page, (await page.content()).body.toString()));
  return answerDocument({ type: 'json', text: JSON.stringify({ options: OPTIONS, index }) });
};
