import htm from 'htm';
import { h, type VNode } from 'preact';

/** Elements as templates: what stands in them by `${}` is text, and cannot become an element. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;
