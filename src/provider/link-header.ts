/**
 * The path, with its query, that a `Link` header (RFC 8288) names as the next page.
 * @param base the service's own address; the path returned is relative to it.
 * @returns null where there is no next page
 * @throws Error where it leads elsewhere: the key must not go there
 */
export function nextLink(header: string | null, base: string): string | null {
  const target = targetOf(header ?? '')
  if (target === null) return null
  const own = new URL(base.replace(/\/*$/, '/'))
  const next = URL.canParse(target, own.href) ? new URL(target, own.href) : null
  if (next === null || next.origin !== own.origin || !next.pathname.startsWith(own.pathname))
    throw new Error('the link to the next page leads away from the address of the service')
  return next.pathname.slice(own.pathname.length - 1) + next.search
}

function targetOf(header: string): string | null {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^>]*)>((?:\s*;[^,<]*)*)/g)) {
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\s*(?:;|$))/i.test(parameters)) return target
  }
  return null
}
