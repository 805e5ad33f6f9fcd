import type { JsonValue } from '../../people/decision.ts'
import { challengeOf, challengeOfAll } from '../../people/passkey.ts'
import type { DecisionState } from '../../people/register.ts'
import { decisionKindText } from '../../presentation/decision.ts'
import { type Fact, valueText } from '../../presentation/text.ts'
import type { DecisionLine } from '../../store/decisions.ts'
import { booksOf, openingFactsOf } from './decision-books.ts'
import { refused } from './forms.ts'
import {
  factsOf,
  type Html,
  type HtmlContent,
  html,
  type ShownColumn,
  tableOf,
  timeOf,
  whole,
} from './html.ts'
import { badge, type ConsolePage, filterForm, pager, sectionOf, type Tone } from './page.ts'
import { hidden, passkeyForm, requestOptions } from './passkey-form.ts'
import type { ConsoleDecision, ConsoleDraft, ConsoleUser, EachDone } from './people.ts'
import { numberOf, oneOf, readQuery } from './query.ts'

const states = ['waiting', 'done', 'rejected', 'outdated'] as const
const pageMax = 50

export type ConsoleDecisionFilter = { state?: DecisionState; before?: bigint; limit: number }

/** @throws Fault `request_refused` if a filter is unknown */
export function decisionFilter(search: URLSearchParams): ConsoleDecisionFilter {
  return { ...readQuery(search, { state: oneOf(states), before: numberOf }), limit: pageMax }
}

export function decisionsPage(
  rows: readonly DecisionLine[],
  wish: ConsoleDecisionFilter,
  user: ConsoleUser | null,
): ConsolePage {
  const body = html`<h1>Decisions</h1>
${filterForm('/decisions', [{ name: 'state', label: 'State', value: wish.state, words: states, any: 'any' }])}
${tableOf(rows, { caption: 'Signed decisions, the newest first', columns, empty: 'No decisions. People request them at the command line, and approve them here.' })}
${user === null ? null : html`<p><a href="/decisions/waiting">All that wait for you</a></p>`}
${pager({ path: '/decisions', wish, field: 'before', rows: rows.map(({ id }) => ({ id: id.toString() })) })}`
  return { title: 'Decisions', entry: '/decisions', body }
}

const tones: Record<DecisionState, Tone> = {
  waiting: 'warning',
  done: 'fine',
  rejected: 'quiet',
  outdated: 'quiet',
}

const columns: ShownColumn<DecisionLine>[] = [
  {
    title: 'DECISION',
    value: ({ id }) => id.toString(),
    show: ({ id }) => html`<a href="/decisions/${id}">${id}</a>`,
    align: 'right',
  },
  { title: 'WHAT', value: ({ kind }) => decisionKindText(kind) },
  { title: 'STATE', value: ({ state }) => state, show: ({ state }) => badge(tones[state], state) },
  {
    title: 'REQUESTED',
    value: ({ requested_at: at }) => at.toISOString(),
    show: ({ requested_at: at }) => timeOf(at),
  },
  { title: 'BY', value: ({ requested_by: by }) => by ?? '' },
  { title: 'APPROVED BY', value: ({ approved_by: by }) => by ?? '' },
]

const waitingColumns: ShownColumn<ConsoleDecision>[] = [
  ...columns.slice(0, 2),
  {
    title: 'REASON',
    value: ({ content }) =>
      changeFacts(content?.change).find(({ name }) => name === 'reason')?.lines[0] ?? '',
  },
  ...columns.slice(3, 5),
]

export function decisionPage(shown: ConsoleDecision, user: ConsoleUser | null, origin: string): ConsolePage {
  const { id, kind, state, text } = shown
  const title = `Decision ${id}: ${decisionKindText(kind)}`
  const body = html`<p class="crumbs"><a href="/decisions">Decisions</a></p>
<h1>${title}</h1>
<p>${badge(tones[state], state)}</p>
${factsOf(factsOfDecision(shown))}
${sectionOf('What it books', booksOf([shown]))}
${sectionOf('Signatures', tableOf(shown.events, { caption: 'Who signed, and with what', columns: eventColumns, empty: 'None.' }))}
${state === 'waiting' ? sectionOf('Approve or reject', actionsFor(shown, user, origin)) : null}
${kind === 'opening' ? html`<p><a href="/decisions/${id}/text">Download the text that is signed</a>, with every line.</p>` : html`<details><summary>The text that is signed</summary><pre>${whole(text)}</pre></details>`}`
  return { title, entry: '/decisions', body }
}

type ShownEvent = ConsoleDecision['events'][number]

const eventColumns: ShownColumn<ShownEvent>[] = [
  { title: 'PERSON', value: ({ person }) => person },
  { title: 'DID', value: ({ action }) => action },
  { title: 'WITH', value: ({ key }) => key ?? '' },
]

/** Drafts that the person reads before they sign them, by one confirmation. */
export function draftPage(
  { done, problems }: EachDone<ConsoleDraft>,
  user: ConsoleUser,
  origin: string,
): ConsolePage {
  const [first, ...others] = done
  if (first === undefined) throw refused(problems[0] ?? 'there is nothing to decide')
  const { kind, people } = first.content
  const title =
    others.length === 0
      ? `Sign: ${decisionKindText(kind)}`
      : `Sign ${done.length} decisions: ${decisionKindText(kind)}`
  const texts = done.map(({ text }) => text)
  const form = passkeyForm({
    path: '/decisions',
    formToken: user.formToken,
    label: people === 2 ? 'Sign and request' : 'Sign and carry out',
    options: requestOptions(origin, challengeOfAll(texts), user.passkeys),
    step: 'get',
    // Browsers would change its line breaks.
    fields: hidden('texts', Buffer.from(JSON.stringify(texts)).toString('base64url')),
  })
  const needs = people === 2 ? 'Another person has to approve.' : 'No second person is needed.'
  const body = html`<h1>${title}</h1>
${problemList(problems)}
${factsOf(changeFacts(first.content.change).filter(({ name }) => others.length === 0 || name !== 'mismatch'))}
${sectionOf('What is booked', booksOf(done))}
<p>${needs}</p>
${form}
<details><summary>What is signed</summary><pre>${whole(texts.join('\n'))}</pre></details>`
  return { title, entry: '/decisions', body }
}

/** All decisions that wait for this person, approved by one confirmation. */
export function waitingPage(
  shown: readonly ConsoleDecision[],
  user: ConsoleUser,
  origin: string,
): ConsolePage {
  const title = shown.length === 1 ? '1 decision waits for you' : `${shown.length} decisions wait for you`
  const texts = shown.map(({ text }) => text)
  const form = passkeyForm({
    path: '/decisions/waiting',
    formToken: user.formToken,
    label: `Approve and sign ${shown.length === 1 ? 'it' : `all ${shown.length}`}`,
    options: requestOptions(origin, challengeOfAll(texts), user.passkeys),
    step: 'get',
    fields: hidden('ids', shown.map(({ id }) => id).join(' ')),
  })
  const problem = problemOfApproval(user, { id: shown[0]?.id ?? 0n, isOwn: false })
  const act = problem === null ? form : html`<p class="note">${problem}</p>`
  const body = html`<p class="crumbs"><a href="/decisions">Decisions</a></p>
<h1>${title}</h1>
${tableOf(shown, { caption: 'Decisions of others, the oldest first', columns: waitingColumns, empty: 'Nothing waits for you.' })}
${shown.length === 0 ? null : act}
${sectionOf('What is booked', booksOf(shown))}`
  return { title, entry: '/decisions', body }
}

/** What was refused of many. */
export function resultPage({ done, problems }: EachDone<bigint>, did: 'requested' | 'approved'): ConsolePage {
  const title = `${done.length} ${did}, ${problems.length} refused`
  return {
    title,
    entry: '/decisions',
    body: html`<h1>${title}</h1>
${problemList(problems)}
<p><a href="/decisions">Decisions</a></p>`,
  }
}

function problemList(problems: readonly string[]): Html | null {
  if (problems.length === 0) return null
  return html`<ul class="problem">${problems.map((problem) => html`<li>${problem}</li>`)}</ul>`
}

function factsOfDecision({
  content,
  journals,
  requested_by: by,
  requested_at: at,
  reason,
}: ConsoleDecision): ShownFact[] {
  const rejected = reason === null ? [] : [{ name: 'why rejected', lines: [reason] }]
  return [
    { name: 'requested by', lines: [by ?? 'no valid signature'] },
    { name: 'requested', lines: [], show: timeOf(at) },
    ...changeFacts(content?.change).filter(({ name }) => content?.kind !== 'opening' || name !== 'file'),
    ...(content?.kind === 'opening' ? openingFactsOf(content.change, journals) : []),
    ...rejected,
  ]
}

type ShownFact = Fact & { show?: HtmlContent }

/** The fields of the change are of its kind. */
function changeFacts(change: JsonValue | undefined): ShownFact[] {
  const fields = change !== null && typeof change === 'object' && !Array.isArray(change) ? change : {}
  return Object.entries(fields)
    .filter(([name, value]) => value !== null && value !== '' && name !== 'mismatches' && !isNested(value))
    .map(([name, value]) => ({
      name: name.replaceAll('_', ' '),
      lines: [value].flat().map(valueText),
      ...(name === 'mismatch' && {
        show: html`<a href="/mismatches/${valueText(value)}">${valueText(value)}</a>`,
      }),
    }))
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isNested) : typeof value === 'object'
}

function actionsFor(
  { id, text, requested_by: by }: ConsoleDecision,
  user: ConsoleUser | null,
  origin: string,
): Html {
  if (user === null)
    return html`<p><a href="/sign-in?to=/decisions/${id}">Sign in</a> to approve or reject it.</p>`
  const { person, passkeys, formToken } = user
  const isOwn = by?.toLowerCase() === person.toLowerCase()
  const approve = passkeyForm({
    path: `/decisions/${id}/approve`,
    formToken,
    label: 'Approve and sign',
    options: requestOptions(origin, challengeOf(text), passkeys),
    step: 'get',
  })
  const problem = problemOfApproval(user, { id, isOwn })
  return html`${problem === null ? approve : html`<p class="note">${problem}</p>`}
<form class="act" method="post" action="/decisions/${id}/reject">${hidden('form', formToken)}
<label for="reason">Reason</label><input id="reason" name="reason" required maxlength="500" autocomplete="off">
<button type="submit">${isOwn ? 'Withdraw' : 'Reject'}</button></form>`
}

function problemOfApproval(
  { roles, passkeys }: ConsoleUser,
  { id, isOwn }: { id: bigint; isOwn: boolean },
): string | null {
  if (isOwn) return 'Another person approves it, since you requested it.'
  if (!roles.includes('approver')) return 'To approve it, you need the role approver.'
  if (passkeys.length > 0) return null
  return `You have no passkey at this address. Approve it at the command line: bin/depositd decisions approve ${id}`
}
