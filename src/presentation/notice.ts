import type { OpenCause } from '../core/cause.ts'
import type { CauseNotice, NoticeStep } from '../core/notices.ts'
import { causeFilters, firstCauses, firstStepOf, lossLines } from './cause.ts'

/** One message, for any channel. `data` is for programs. */
export type NoticeContent = {
  type: `cause.${'opened' | 'grown' | 'reopened' | 'ended'}` | 'digest' | 'person' | 'test'
  /** The same for all messages about one cause. */
  title: string
  lines: readonly string[]
  data: Readonly<Record<string, unknown>>
}

/** Of the settings. `console` is null if no other machine reaches it. */
export type NoticeLinks = {
  console: string | null
  services: readonly string[]
  networks: readonly string[]
}

type NoticeSubject = Pick<CauseNotice, 'kind' | 'service' | 'network'>

function titleOf({ kind, service, network }: NoticeSubject): string {
  return `${kind}${network === '' ? '' : ` on ${network}`}${service === '' ? '' : ` (service ${service})`}`
}

export function causeContent(
  notice: NoticeStep,
  says: Exclude<NoticeStep['says'], 'unchanged'>,
  links: NoticeLinks,
): NoticeContent {
  const { kind, service, network, since, until, cause } = notice
  const subject = { kind, service, network }
  const link = causeLink(notice, links)
  const span = { since: since.toISOString(), until: until.toISOString() }
  if (cause === null)
    return {
      type: `cause.${says}`,
      title: titleOf(notice),
      lines: ['Ended: no mismatch of this cause is open.', ...linked(link)],
      data: { ...subject, ...span, link },
    }
  const { severity, side, count, losses } = cause
  const firstStep = firstStepOf(kind)
  return {
    type: `cause.${says}`,
    title: titleOf(notice),
    lines: [
      `${headings[says]}: ${countText(count)}, ${severity}, since ${timeText(since)}.`,
      `Loss: ${lossText(cause)}.`,
      ...(firstStep === null ? [] : [`First step: ${firstStep}`]),
      ...linked(link),
    ],
    data: {
      ...subject,
      ...span,
      severity,
      side,
      count,
      losses: losses.map(({ asset, amount }) => ({ asset, amount: amount === null ? null : `${amount}` })),
      firstStep,
      link,
    },
  }
}

const headings = { opened: 'Opened', grown: 'Grown', reopened: 'Open again', ended: 'Ended' } as const

function countText(count: number): string {
  return count === 1 ? '1 open mismatch' : `${count} open mismatches`
}

function lossText(cause: OpenCause): string {
  const lines = lossLines(cause)
  return lines.length === 0 ? 'none known' : lines.join(', ')
}

function timeText(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function linked(link: string | null): string[] {
  return link === null ? [] : [link]
}

function causeLink(cause: NoticeSubject & { since: Date; until: Date }, links: NoticeLinks): string | null {
  if (links.console === null) return null
  const filters = Object.entries(causeFilters(cause, links)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] satisfies [string, string]],
  )
  return `${links.console}/mismatches?${new URLSearchParams(filters).toString()}`
}

const digestMax = 30

/** Null if there is nothing to say. */
export function digestContent(
  open: readonly OpenCause[],
  ended: readonly CauseNotice[],
  { day, links }: { day: string; links: NoticeLinks },
): NoticeContent | null {
  if (open.length + ended.length === 0) return null
  const causes = firstCauses(open)
  const rest = causes.length - digestMax
  return {
    type: 'digest',
    title: `Mismatches on ${day}: ${causes.length} open causes, ${ended.length} ended in the last day`,
    lines: [
      ...causes.slice(0, digestMax).map((cause) => {
        const calls = cause.callsForPeople ? 'Calls for a person: ' : ''
        return `${calls}${titleOf(cause)}: ${countText(cause.count)}, ${cause.severity}. Loss: ${lossText(cause)}.`
      }),
      ...(rest > 0 ? [`${rest} more causes are open.`] : []),
      ...ended.slice(0, digestMax).map((one) => `Ended: ${titleOf(one)}.`),
      ...linked(links.console === null ? null : `${links.console}/mismatches/causes`),
    ],
    data: {
      day,
      open: causes.map(({ kind, service, network, count, callsForPeople }) => ({
        kind,
        service,
        network,
        count,
        callsForPeople,
      })),
      ended: ended.map(({ kind, service, network }) => ({ kind, service, network })),
    },
  }
}

/** `about` is a mismatch, or for `waiting` a decision. */
type PersonalLine = { about: bigint; kind: string; by: string | null; text: string | null }

const personalTitles = {
  mention: 'You were mentioned',
  assigned: 'A mismatch was assigned to you',
  overdue: 'A mismatch assigned to you is overdue',
  waiting: 'A decision waits for your approval',
} as const

export function personalContent(
  topic: keyof typeof personalTitles,
  lines: readonly PersonalLine[],
  { console }: NoticeLinks,
): NoticeContent {
  const page = topic === 'waiting' ? 'decisions' : 'mismatches'
  const noun = topic === 'waiting' ? 'Decision' : 'Mismatch'
  const more = lines.length === 1 ? '' : `, and ${lines.length - 1} more`
  return {
    type: 'person',
    title: `${personalTitles[topic]}${more}`,
    lines: lines.flatMap(({ about, kind, by, text }) => [
      `${noun} ${about}, ${kind}${by === null ? '' : `, by ${by}`}${text === null ? '' : `: ${text}`}`,
      ...linked(console === null ? null : `${console}/${page}/${about}`),
    ]),
    data: { topic, about: lines.map(({ about }) => `${about}`) },
  }
}

export function testContent(channel: string): NoticeContent {
  return {
    type: 'test',
    title: `Test message of depositd for ${channel}`,
    lines: ['This channel works. Nothing is wrong.'],
    data: { channel },
  }
}

/** Slack reads these three signs as markup. */
export function slackText({ title, lines }: NoticeContent): string {
  const escaped = [`*${title}*`, ...lines].join('\n').replaceAll('&', '&amp;')
  return escaped.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
