import type { RequestHandler } from 'express';
import { answerDocument } from './answer-document.ts';

/** A page that is the same for all callers, with a content security policy. */
export const answerPage = (html: string, policy: string): RequestHandler =>
  answerDocument({
    type: 'html',
    text: html,
    headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' },
  });
