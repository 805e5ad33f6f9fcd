import { makeSecret } from './sign-webhook.ts'

/** All that a command needs beside a database to judge deposits anew; none of these servers is asked. */
export function judgingEnvironment(databaseUrl: string, more: Record<string, string> = {}) {
  return {
    DATABASE_URL: databaseUrl,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'http://127.0.0.1:9',
    RPC_ARBITRUM: 'http://127.0.0.1:9',
    ...more,
  }
}
