import { type Html, html } from '#shared/html.ts';
import { STYLE, STYLE_SOURCE } from './style.ts';

/** A page, whichever framework sends it. */
export type Page = {
  readonly title: string;
  readonly main: Html;
  readonly status?: number;
  /** Wider than a form. */
  readonly isWide?: boolean;
  /** The navigation. */
  readonly nav?: Html;
  /** The absolute URL of the page's one optional script. */
  readonly scriptUrl?: string | undefined;
  /** The footer. */
  readonly note?: string;
  /**
   * Where a form of the page may end up after redirects, beside this server itself: sources of `form-action`.
   */
  readonly formTargets?: readonly string[];
};

type RenderedPage = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export const renderPage = ({ status = 200, formTargets = [], ...shown }: Page): RenderedPage => ({
  status,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': contentSecurityPolicy(formTargets, shown.scriptUrl),
    // Not `no-referrer`: with it, browsers send `Origin: null` even with our own forms.
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // The equivalent of `frame-ancestors` for older browsers.
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  },
  body: documentOf(shown),
});

/**
 * Only the one style may load, and only the one script of a page may run. Chromium also applies `form-action`
 * to the redirects after a form: sign-in, consent and sign-out end at the client, so their pages name the
 * client's registered origins. See `form-targets.ts`.
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

/** A CSP source has no query. */
const sourceOf = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/** The style is our constant. The `html` tag would escape it, so `replace` inserts it. */
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
