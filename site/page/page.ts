import type { Html } from '#shared/html.ts';

/** One page of the site. Its links are relative, so it works wherever it is mounted. */
export type DocsPage = {
  readonly path: string;
  readonly title: string;
  /** Names of assets, in addition to those of every page. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  /** Scripts that run before the first paint, so that nothing moves later. */
  readonly early?: readonly string[];
  /** Called when the page is first requested. */
  content(): Content | Promise<Content>;
};

export type Content = {
  readonly body: Html;
  /** Shown below the page in the navigation while it is open. */
  readonly sections: readonly Section[];
};

export type Section = { readonly id: string; readonly title: string };

export type Group = { readonly title: string; readonly pages: readonly DocsPage[] };

/** The relative address of one page from another. */
export const hrefFrom = (from: string, to: string): string =>
  '../'.repeat(from.split('/').length - 2) + to.slice(1);
