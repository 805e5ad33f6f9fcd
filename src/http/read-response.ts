/** The answer is larger than its reader accepts. */
export class ResponseTooLarge extends Error {}

/** Bounds the decompressed size, against compression bombs. @throws ResponseTooLarge with that problem as its message */
export async function readResponse(
  { body }: Response,
  { bytesMax, problem }: { bytesMax: number; problem: string },
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new ResponseTooLarge(problem)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
