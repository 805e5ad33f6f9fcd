import { refusal } from './problem.ts'
import type { ApiRoute } from './route.ts'

/** The call that a request means, or the methods that its path takes: none where there is no such path. */
export type Match =
  | { kind: 'found'; route: ApiRoute; parameters: Record<string, string> }
  | { kind: 'missing'; methods: readonly string[] }

export type MatchRoute = (request: { method: string; path: string }) => Match

/** Paths are compared as they stand, with their case and without a slash at the end. */
export function createMatcher(routes: readonly ApiRoute[]): MatchRoute {
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route) }))
  return ({ method, path }) => {
    const here = patterns.filter(({ pattern }) => pattern.test(path))
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
    const found = here.find(({ route }) => route.method === wanted)
    if (found === undefined) {
      return { kind: 'missing', methods: here.map(({ route }) => route.method.toUpperCase()) }
    }
    const parts = Object.entries(found.pattern.exec(path)?.groups ?? {})
    const parameters = Object.fromEntries(parts.map(([name, text]) => [name, decode(text)]))
    return { kind: 'found', route: found.route, parameters }
  }
}

function patternOf({ path }: ApiRoute): RegExp {
  const escaped = path.replaceAll('.', String.raw`\.`)
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refusal('http_malformed', 'the path is not percent-encoded UTF-8')
  }
}
