import type { Html } from '#shared/html.ts';

/** One page of the site. Addresses within it are relative, so that it works wherever it is mounted. */
export type DocsPage = {
  /** Under which it is found, from the root. */
  readonly path: string;
  readonly title: string;
  /** Beside what every page loads, by their names among the assets. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  /** Scripts that have run before anything is painted, so that nothing moves by them later. */
  readonly early?: readonly string[];
  /** Made when somebody first asks for it. */
  content(): Content | Promise<Content>;
};

export type Content = {
  readonly body: Html;
  /** What stands under the page in the navigation while it is shown. */
  readonly sections: readonly Section[];
};

export type Section = { readonly id: string; readonly title: string };

export type Group = { readonly title: string; readonly pages: readonly DocsPage[] };

/** The address of one page within another. */
export const hrefFrom = (from: string, to: string): string =>
  '../'.repeat(from.split('/').length - 2) + to.slice(1);
