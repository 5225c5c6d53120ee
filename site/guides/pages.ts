import { extname } from 'node:path';
import type { Asset } from '#edge/pages/asset.ts';
import { html } from '#shared/html.ts';
import type { Assets } from '../assets.ts';
import { codeBlock } from '../code/block.ts';
import { type DocsPage, type Group, hrefFrom } from '../page/page.ts';
import { CHANGELOG, type Example, type Guide, readExamples, readShelves } from './library.ts';
import { addressOnSite, examplePath, guidePath } from './links.ts';
import { type Picture, renderMarkdown } from './markdown.ts';

/** The texts of `docs/`, as they are in the repository. */
export const guideGroups = (assets: Assets, origin: string): readonly Group[] =>
  readShelves().map(({ title, guides }) => ({
    title,
    pages: guides.map((guide) => guidePage(guide, assets, origin)),
  }));

const guidePage = ({ name, title, text }: Guide, assets: Assets, origin: string): DocsPage => {
  const path = guidePath(name);
  const folder = name === CHANGELOG ? '' : 'docs';
  const surroundings = {
    origin,
    resolve: (href: string) => resolve(href, { path, folder }),
    pictureOf: (href: string) => pictureOf(assets.named(href), path),
  };
  return {
    path,
    title: shortened(title),
    scripts: ['tabs.js'],
    content: () => renderMarkdown(text, surroundings),
  };
};

/** Shortened for the navigation. */
const shortened = (title: string): string => title.replace(/[:,].*$/, '');

const ELSEWHERE = /^https?:/;

const resolve = (
  href: string,
  { path, folder }: { readonly path: string; readonly folder: string },
): string | undefined => {
  if (href.startsWith('#') || ELSEWHERE.test(href)) return href;
  const target = addressOnSite(href, folder);
  return target && hrefFrom(path, target);
};

const pictureOf = ({ path, bytes }: Asset, page: string): Picture => {
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(bytes.toString()) ?? [];
  return { address: hrefFrom(page, path), width: Number(width), height: Number(height) };
};

/** The programs of `docs/examples`, byte for byte. */
export const examplePages = (): readonly DocsPage[] => readExamples().map(examplePage);

const examplePage = ({ name, text }: Example): DocsPage => ({
  path: examplePath(name),
  title: name,
  content: () => ({
    body: html`<h1>${name}</h1>
<p>It is <code>docs/examples/${name}</code> of the repository. The tests run exactly this file.</p>
${codeBlock(text, extname(name).slice(1))}`,
    sections: [],
  }),
});
