import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled } from './programs-needed.ts'

export const opensslInstalled = (): boolean => isInstalled('openssl')

export type Certificate = { cert: string; key: string }

/** An authority of a test's own. Each path is that of a PEM file. */
export type Authority = {
  ca: string
  issue: (name: string, server: { host: string; days: number }) => Certificate
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** Made when it is needed, so that no key lies in the repository and nothing ever expires there. */
export function createAuthority(folder: string): Authority {
  const at = (name: string) => join(folder, name)
  const [ca, caKey] = [at('ca.pem'), at('ca.key')]
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKey,
    '-out',
    ca,
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
  )
  return {
    ca,
    issue(name, { host, days }) {
      const [key, request, cert, names] = ['key', 'csr', 'pem', 'ext'].map((end) => at(`${name}.${end}`))
      writeFileSync(String(names), `subjectAltName=DNS:${host}\n`)
      openssl(
        'req',
        '-new',
        ...newKey,
        '-keyout',
        String(key),
        '-out',
        String(request),
        '-subj',
        `/CN=${host}`,
      )
      const signing = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-extfile', String(names)]
      openssl('x509', '-req', '-in', String(request), ...signing, '-days', `${days}`, '-out', String(cert))
      return { cert: String(cert), key: String(key) }
    },
  }
}

function openssl(...words: string[]): void {
  execFileSync('openssl', words, { stdio: 'pipe' })
}
