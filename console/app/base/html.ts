import htm from 'htm';
import { h, type VNode } from 'preact';

/** Elements as templates: values in `${}` become text, never elements. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;
