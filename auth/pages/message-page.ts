import { html } from '#shared/html.ts';
import type { Page } from './page.ts';

type MessageView = {
  readonly title: string;
  readonly text: string;
  readonly status: number;
  readonly link?: Link;
};
type Link = { readonly url: string; readonly text: string };

/** A page with a message and a link. */
export const messagePage = ({ title, text, status, link }: MessageView): Page => ({
  status,
  title,
  main: html`<h1>${title}</h1>
<p>${text}</p>${link !== undefined && html`\n<p><a href="${link.url}">${link.text}</a></p>`}`,
});

export const EXPIRED = messagePage({
  status: 400,
  title: 'This page has expired',
  text: 'Its sign-in has ended, or was started in another browser. Go back to the application and start again.',
});

export const FORGED = messagePage({
  status: 403,
  title: 'This form cannot be accepted',
  text: 'It was not issued to this browser. Go back to the application and start again; your browser must allow cookies.',
});

export const MALFORMED = messagePage({
  status: 400,
  title: 'This form cannot be accepted',
  text: 'Its fields do not match the page. Go back and try again.',
});
