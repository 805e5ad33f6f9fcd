import { adviceOf, historyColumns, type MismatchDetail, mismatchFacts } from '../../presentation/mismatch.ts'
import type { Fact } from '../../presentation/text.ts'
import { type Html, type HtmlContent, html } from './html.ts'
import { subjectLink } from './lists.ts'
import { markdownHtml } from './markdown.ts'
import { badge, type ConsolePage, sectionOf, toneOfSeverity } from './page.ts'
import { factsOf, tableOf } from './table.ts'

const historyMax = 200

/** All about one mismatch: its sentence, the fix, its history, and its section of the runbook. */
export function mismatchPage(shown: MismatchDetail, runbook: string): ConsolePage {
  const { mismatch, deposit, history } = shown
  const id = String(mismatch.id)
  const advice = adviceOf(shown)
  const facts = mismatchFacts(shown, advice).filter(({ name }) => name !== 'means' && name !== 'next')
  const newest = history.slice(-historyMax)
  const cut = history.length - newest.length
  const body = html`<p class="crumbs"><a href="/mismatches">Mismatches</a></p>
<h1>Mismatch ${id}: ${mismatch.kind}</h1>
<p>${badge(toneOfSeverity(mismatch.severity), mismatch.severity)} ${badge('quiet', mismatch.status)}</p>
<div class="advice"><p>${advice.means}</p><p><strong>Next:</strong> ${advice.next}</p></div>
${factsOf(facts.map((fact) => linked(fact, { mismatch, deposit })))}
${sectionOf(
  'History',
  tableOf(newest, { caption: 'What became of it', columns: historyColumns(mismatch), empty: 'Nothing yet.' }),
  cut === 0 ? null : html`<p class="note">${cut} earlier entries are not shown.</p>`,
)}
${sectionOf('At the command line', commandsFor(id, deposit?.id ?? null))}
${runbook === '' ? null : sectionOf('Runbook', html`<div class="runbook">${markdownHtml(runbook)}</div>`)}`
  return { title: `Mismatch ${id}: ${mismatch.kind}`, entry: '/mismatches', body }
}

function linked(
  fact: Fact,
  { mismatch, deposit }: Pick<MismatchDetail, 'mismatch' | 'deposit'>,
): Fact & { show?: HtmlContent } {
  if (fact.name === 'about') return { ...fact, show: subjectLink(mismatch.subject) }
  if (fact.name !== 'deposit' || deposit === null) return fact
  return { ...fact, show: html`<a href="/deposits/${deposit.id}">${fact.lines[0] ?? ''}</a>` }
}

/** The console is read-only. People decide on the command line, which records their name. */
function commandsFor(id: string, depositId: string | null): Html {
  const lines = [
    `bin/depositd mismatches assign ${id} NAME`,
    `bin/depositd mismatches comment ${id} TEXT`,
    `bin/depositd mismatches snooze ${id} --until 24h`,
    `bin/depositd mismatches resolve ${id} --reason TEXT`,
    ...(depositId === null ? [] : [`bin/depositd deposits show ${depositId}`]),
  ]
  return html`<pre>${lines.join('\n')}</pre>`
}
