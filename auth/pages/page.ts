import { type Html, html } from '#shared/html.ts';
import { STYLE, STYLE_SOURCE } from './style.ts';

/** What a page is to a browser, whatever answers with it. */
export type Page = {
  readonly title: string;
  readonly main: Html;
  readonly status?: number;
  /** Holds more than a form. */
  readonly isWide?: boolean;
  /** The way to the other pages of its kind. */
  readonly nav?: Html;
  /** The one script that the page works without, by its whole address. */
  readonly scriptUrl?: string | undefined;
  /** Stands at the foot. */
  readonly note?: string;
  /**
   * Where a form of the page may end up after redirects, beside this server itself: sources of `form-action`.
   */
  readonly formTargets?: readonly string[];
};

export type RenderedPage = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export const renderPage = ({ status = 200, formTargets = [], ...shown }: Page): RenderedPage => ({
  status,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': contentSecurityPolicy(formTargets, shown.scriptUrl),
    // Not `no-referrer`: under that one browsers send `Origin: null` with our own forms, too.
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // What `frame-ancestors` says, for what does not know it.
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  },
  body: documentOf(shown),
});

/**
 * Nothing but the one style may load, and nothing may run but the one script of a page that has it. Chromium
 * applies `form-action` to the redirects that follow a form, too: sign-in, consent and sign-out end at the
 * client, so their pages name the client's registered origins. See `form-targets.ts`.
 */
const contentSecurityPolicy = (formTargets: readonly string[], scriptUrl: string | undefined): string =>
  [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    ...(scriptUrl === undefined ? [] : [`script-src ${sourceOf(scriptUrl)}`]),
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** A source names no query. */
const sourceOf = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/**
 * The style is a constant of ours; a tag's text cannot be escaped, so it stands in the literal by
 * replacement.
 */
const documentOf = ({
  title,
  main,
  isWide,
  nav,
  note,
  scriptUrl,
}: Omit<Page, 'status' | 'formTargets'>): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Annals</title>
<style>${STYLE_MARK}</style>
${scriptUrl !== undefined && html`<script src="${scriptUrl}" type="module"></script>\n`}</head>
<body${isWide && html` class="wide"`}>
${nav !== undefined && html`<a class="skip" href="#main">Skip to the content</a>\n`}<header>Annals</header>
${nav !== undefined && html`${nav}\n`}<main${nav !== undefined && html` id="main" tabindex="-1"`}>
${main}
</main>
${note !== undefined && html`<footer>${note}</footer>`}
</body>
</html>
`
    .toString()
    .replace(STYLE_MARK, () => STYLE);

const STYLE_MARK = '/*style*/';
