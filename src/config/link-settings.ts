import type { EnvironmentReader } from './environment.ts'

/** Targets of links, and the setting that holds the URL of each. */
export const linkSettings = {
  console: 'PUBLIC_URL',
  dashboards: 'DASHBOARDS_URL',
  runbook: 'RUNBOOK_URL',
} as const

export type LinkTarget = keyof typeof linkSettings

/** The URL of each target as others open it, without a trailing slash; null if it is not set. */
export type Links = Readonly<Record<LinkTarget, string | null>>

export function readLinks(reader: EnvironmentReader): Links {
  return {
    console: readLink(reader, linkSettings.console),
    dashboards: readLink(reader, linkSettings.dashboards),
    runbook: readLink(reader, linkSettings.runbook),
  }
}

function readLink(reader: EnvironmentReader, name: string): string | null {
  if (reader.optional(name) === undefined) return null
  const text = reader.url(name, ['http', 'https'])
  if (!URL.canParse(text)) return null
  const { username, password, search, hash } = new URL(text)
  // Paths and fragments are appended, and all recipients of an alert see the URL.
  if (`${username}${password}${search}${hash}` !== '')
    reader.faults.push(`${name} must be an address without a login, a query or a section`)
  return text.replace(/\/+$/, '')
}

/** Links that other machines can open. Omits URLs that point each machine to itself. */
export function sharedLinks(links: Links): Links {
  return {
    console: shared(links.console),
    dashboards: shared(links.dashboards),
    runbook: shared(links.runbook),
  }
}

function shared(url: string | null): string | null {
  return url === null || isOfOneMachine(new URL(url).hostname) ? null : url
}

/** A name in `.localhost` is local by RFC 6761. The unspecified address is not one to connect to. */
function isOfOneMachine(hostname: string): boolean {
  return isLoopback(hostname) || /\.localhost\.?$|^0\.0\.0\.0$|^\[::\]$/i.test(hostname)
}

const names = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** True if the host is this machine itself, so that no other machine can read or reach that traffic. */
export function isLoopback(host: string): boolean {
  return names.test(host)
}
