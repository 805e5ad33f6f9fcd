import type { RequestHandler } from 'express'

const ownNames = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * Where it listens on loopback it has no other name. A page of somebody else could have its own name lead here, and would
 * then read what is shown as if it came from there.
 */
export function refuseOtherNames(host: string): RequestHandler {
  const isOwn = ownNames.test(host.includes(':') ? `[${host}]` : host)
  return (request, response, next) => {
    if (!isOwn || ownNames.test(request.headers.host ?? '')) next()
    else response.status(421).type('text/plain').send('this port is reached as localhost\n')
  }
}
