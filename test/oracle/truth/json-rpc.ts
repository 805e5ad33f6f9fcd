/** Asks a node, past whatever stands before it for the daemon, and without any library. */
export async function ask<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const [result] = await askAll<Result>(url, method, [params])
  return result as Result
}

const callsOfRequest = 100

/** The same of many, in the order of the parameters; one request holds a hundred calls. */
export async function askAll<Result>(
  url: string,
  method: string,
  calls: readonly (readonly unknown[])[],
): Promise<Result[]> {
  const results: Result[] = []
  for (let first = 0; first < calls.length; first += callsOfRequest) {
    results.push(...(await post<Result>(url, method, calls.slice(first, first + callsOfRequest))))
  }
  return results
}

type Answer<Result> = { id: number; result: Result; error?: { message: string } }

async function post<Result>(
  url: string,
  method: string,
  calls: readonly (readonly unknown[])[],
): Promise<Result[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((params, id) => ({ jsonrpc: '2.0', id, method, params }))),
  })
  const answers = (await response.json()) as readonly Answer<Result>[]
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map((_params, id) => {
    const answer = byId.get(id)
    if (answer === undefined || answer.error !== undefined)
      throw new Error(`${method}: ${answer?.error?.message ?? 'no answer'}`)
    return answer.result
  })
}
