import { Agent, get, type RequestOptions } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

export type ReadTarget = { url: string; token: string; perSecond: number; nextTransaction: () => string }

type Reads = {
  /** Ends the reading, and waits for the last answers. @returns how long each took, in milliseconds */
  stop: () => Promise<number[]>
}

/**
 * Reads deposits by a transaction at an even pace, whether or not the reads before are answered, until it is stopped.
 * `stop` throws where an answer is not the one deposit of the transaction.
 */
export function startReads(target: ReadTarget): Reads {
  const stopping = new AbortController()
  const reading = readPaced(target, stopping.signal)
  reading.catch(() => undefined)
  return {
    stop: () => {
      stopping.abort()
      return reading
    },
  }
}

async function readPaced({ perSecond, ...target }: ReadTarget, stopping: AbortSignal): Promise<number[]> {
  using stack = new DisposableStack()
  const agent = new Agent({ keepAlive: true })
  stack.defer(() => agent.destroy())
  const answers: Promise<number>[] = []
  const begin = (due: number) => {
    const answer = readOne(target, agent, due)
    // The first that fails is reported once the reading is stopped.
    answer.catch(() => undefined)
    answers.push(answer)
  }
  for (let due = performance.now(); !stopping.aborted; due += 1000 / perSecond) {
    const wait = due - performance.now()
    if (wait > 0) await sleep(wait, undefined, { signal: stopping }).catch(() => undefined)
    if (!stopping.aborted) begin(due)
  }
  return await Promise.all(answers)
}

async function readOne(
  { url, token, nextTransaction }: Omit<ReadTarget, 'perSecond'>,
  agent: Agent,
  dueAt: number,
): Promise<number> {
  const tx = nextTransaction()
  const options = { agent, headers: { authorization: `Bearer ${token}` } }
  const body = await getText(new URL(`/v1/deposits?tx=${tx}`, url), options)
  const took = performance.now() - dueAt
  const { data } = JSON.parse(body) as {
    data: { deposit: { tx: string }; settlement: { tx: string } | null }[]
  }
  const [found] = data
  if (data.length !== 1 || (found?.deposit.tx !== tx && found?.settlement?.tx !== tx))
    throw new Error(`${data.length} deposits were found by ${tx}`)
  return took
}

/** A server may close a connection that was idle just as a request begins on it: that one is sent again, as browsers do. */
function getText(url: URL, options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = get(url, options, (response) => {
      if (response.statusCode === 200) text(response).then(resolve, reject)
      else reject(new Error(`a read was answered ${response.statusCode}`))
    })
    sent.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' && sent.reusedSocket) resolve(getText(url, options))
      else reject(error)
    })
  })
}
