import { html } from './html.ts'
import type { ConsolePage } from './page.ts'

/** Says in one line why a page is not shown. */
export function problemPage(status: number, line: string): ConsolePage {
  const title = titles[status] ?? 'This cannot be shown'
  return {
    title,
    body: html`<h1>${title}</h1>
<p class="problem">${line}</p>
<p><a href="/">How it stands</a></p>`,
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'This cannot be asked',
  404: 'Not found',
  503: 'This cannot be read now',
}
