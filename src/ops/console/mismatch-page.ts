import { adviceOf, historyColumns, type MismatchDetail, mismatchFacts } from '../../presentation/mismatch.ts'
import { type Fact, type ServicesShown } from '../../presentation/text.ts'
import type { CaseAct } from '../../store/mismatches/undo.ts'
import { attachmentsOf, caseForms, doneForm, writeOffForm } from './case-forms.ts'
import { bundleLink, depositSummary } from './deposits.ts'
import { disputeLink } from './downloads.ts'
import { factsOf, type Html, type HtmlContent, html, tableOf } from './html.ts'
import { markdownHtml } from './markdown.ts'
import { subjectLink } from './mismatches.ts'
import { badge, type ConsolePage, sectionOf, severityBadge } from './page.ts'
import { type ConsoleUser, may } from './people.ts'
import type { ConsoleChoices, ConsoleDeposit } from './reader.ts'

const historyMax = 200

type MismatchPageData = Pick<ConsoleChoices, 'explorers'> & {
  runbook: string
  /** That it is about. */
  about: ConsoleDeposit | null
  user: ConsoleUser | null
  names: readonly string[]
  /** What was done just before. */
  done: CaseAct | null
}

export function mismatchPage(
  shown: MismatchDetail,
  { runbook, about, explorers, user, names, done, hasSeveralServices }: ServicesShown & MismatchPageData,
): ConsolePage {
  const { mismatch, deposit, history } = shown
  const id = String(mismatch.id)
  const advice = adviceOf(shown)
  const facts = mismatchFacts(shown, { ...advice, hasSeveralServices }).filter(
    ({ name }) => name !== 'means' && name !== 'next',
  )
  const newest = history.slice(-historyMax)
  const cut = history.length - newest.length
  const body = html`<p class="crumbs"><a href="/mismatches">Mismatches</a></p>
<h1>Mismatch ${id}: ${mismatch.kind}</h1>
${doneForm(done, user)}
<p>${severityBadge(mismatch.severity)} ${badge('quiet', mismatch.status)}${isRegressed(shown) ? html` ${badge('warning', 'regressed')}` : null}</p>
<div class="advice"><p>${advice.means}</p><p><strong>Next:</strong> ${advice.next}</p></div>
${factsOf(facts.map((fact) => linked(fact, { mismatch, deposit })))}
${about && depositSummary(about, explorers)}
${user && workSections(shown, user, names)}
${sectionOf(
  'History',
  tableOf(newest, { caption: 'What became of it', columns: historyColumns(mismatch), empty: 'Nothing yet.' }),
  cut === 0 ? null : html`<p class="note">${cut} earlier entries are not shown.</p>`,
)}
${sectionOf('Attachments', attachmentsOf(shown, user))}
${evidenceOf(shown, user)}
${sectionOf('At the command line', commandsFor(id, deposit?.id ?? null))}
${runbook === '' ? null : sectionOf('Runbook', html`<div class="runbook">${markdownHtml(runbook)}</div>`)}`
  return { title: `Mismatch ${id}: ${mismatch.kind}`, entry: '/mismatches', body }
}

function workSections(
  { mismatch, deposit }: MismatchDetail,
  user: ConsoleUser,
  names: readonly string[],
): Html {
  const mayWriteOff = may(user, 'work on cases') && deposit !== null
  return html`${sectionOf('Work on it', caseForms(mismatch, user, names))}
${mayWriteOff ? sectionOf('Write it off', writeOffForm(mismatch, user)) : null}`
}

/** Open again by new evidence, after a person put it aside. */
function isRegressed({ mismatch, history }: MismatchDetail): boolean {
  return (
    mismatch.status === 'open' &&
    history.some(({ action, actor }) => action === 'reopened' && actor === 'depositd')
  )
}

function linked(
  fact: Fact,
  { mismatch, deposit }: Pick<MismatchDetail, 'mismatch' | 'deposit'>,
): Fact & { show?: HtmlContent } {
  if (fact.name === 'about') return { ...fact, show: subjectLink(mismatch.subject) }
  if (fact.name !== 'deposit' || deposit === null) return fact
  return { ...fact, show: html`<a href="/deposits/${deposit.id}">${fact.lines[0] ?? ''}</a>` }
}

function evidenceOf({ mismatch, deposit }: MismatchDetail, user: ConsoleUser | null): Html | null {
  const isShort = mismatch.kind === 'settlement_short' && mismatch.status !== 'cleared'
  const dispute = isShort ? disputeLink(String(mismatch.id), user) : null
  return deposit && sectionOf('Evidence', bundleLink(deposit.id, user), dispute)
}

function commandsFor(id: string, depositId: string | null): Html {
  const lines = [
    `bin/depositd mismatches assign ${id} NAME`,
    `bin/depositd mismatches comment ${id} TEXT`,
    `bin/depositd mismatches snooze ${id} --until 24h`,
    `bin/depositd mismatches resolve ${id} --reason TEXT`,
    ...(depositId === null ? [] : [`bin/depositd deposits show ${depositId}`]),
  ]
  return html`<pre>${lines.map(
    (line) => html`<code>${line}</code>
`,
  )}</pre>`
}
