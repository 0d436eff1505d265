// swift-format-ignore-file

/// Requests in order, with the status and the parts of the body that each is answered with:
/// `METHOD path | body | status | part & part`. Source: Firestore server reference, sections 2, 3.
enum DocumentTable {
  static let documents = #"""
    GET /c/none | | 404 | "code":404 & "status":"NOT_FOUND" & "message":"
    PATCH /c/a | {"fields":{"s":{"stringValue":"x"},"n":{"integerValue":"1"}}} | 200 | "name":"{root}/c/a" & "updateTime":"20 & "createTime":"20
    GET /c/a | | 200 | "fields":{"n":{"integerValue":"1"},"s":{"stringValue":"x"}}
    GET /c/a?mask.fieldPaths=s | | 200 | "fields":{"s":{"stringValue":"x"}}
    GET /c/a?mask.fieldPaths=s&mask.fieldPaths=n | | 200 | "n": & "s":
    GET /c/a?mask.fieldPaths=zzz | | 200 | "name":"{root}/c/a" & !"fields"
    GET /c/a?mask.field_paths=n | | 200 | "fields":{"n":{"integerValue":"1"}}
    GET /%63/%61 | | 200 | "name":"{root}/c/a"
    GET /c%2Fa | | 200 | "name":"{root}/c/a"
    GET /v1/projects/p/databases/%28default%29/documents/c/a | | 200 | "name":"{root}/c/a"
    GET /v1beta1/{root}/c/a | | 200 | "name":"{root}/c/a"
    PATCH /c/a?updateMask.fieldPaths=n | {"fields":{"n":{"integerValue":"2"},"other":{"booleanValue":true}}} | 200 | "integerValue":"2" & "stringValue":"x" & !other
    PATCH /c/a?updateMask.fieldPaths=s | {} | 200 | "integerValue":"2" & !stringValue
    PATCH /c/a?updateMask.fieldPaths=m.x&mask.fieldPaths=m | {"fields":{"m":{"mapValue":{"fields":{"x":{"integerValue":"1"},"y":{"integerValue":"2"}}}}}} | 200 | "m":{"mapValue":{"fields":{"x":{"integerValue":"1"}}}} & !"n":
    PATCH /c/a?updateMask.fieldPaths=`a.b` | {"fields":{"a.b":{"booleanValue":true}}} | 200 | "a.b":{"booleanValue":true}
    PATCH /c/a?updateMask.fieldPaths=a..b | {} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /c/a?updateMask.fieldPaths= | {} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /c/a?currentDocument.exists=true | {"fields":{"n":{"integerValue":"3"}}} | 200 | "integerValue":"3"
    PATCH /c/a?currentDocument.exists=false | {} | 409 | "status":"ALREADY_EXISTS" & "code":409
    PATCH /c/none?currentDocument.exists=true | {} | 404 | "status":"NOT_FOUND"
    PATCH /c/a?currentDocument.updateTime=2001-01-01T00:00:00Z | {} | 400 | "status":"FAILED_PRECONDITION"
    PATCH /c/a?currentDocument.updateTime=2001-01-01T00:00:00Z&currentDocument.exists=true | {} | 400 | 'condition_type' is already set
    PATCH /c/a?currentDocument.updateTime=then | {} | 400 | Invalid value at 'current_document.update_time'
    PATCH /c/a?currentDocument.exists=1 | {} | 400 | Invalid value at 'current_document.exists' (TYPE_BOOL)
    PATCH /c/empty | {} | 200 | "name":"{root}/c/empty" & !"fields"
    PATCH /c/empty | {"fields":{}} | 200 | "name":"{root}/c/empty"
    PATCH /c/named | {"name":"{root}/c/other","fields":{}} | 200 | "name":"{root}/c/named"
    PATCH /c | {} | 400 | "status":"INVALID_ARGUMENT"
    GET /c/empty | | 200 | !"fields"
    POST /c?documentId=new | {"fields":{"v":{"integerValue":"1"}}} | 200 | "name":"{root}/c/new"
    POST /c?documentId=new | {"fields":{}} | 409 | "status":"ALREADY_EXISTS"
    POST /c?document_id=new2 | | 200 | "name":"{root}/c/new2"
    POST /c | {"fields":{"v":{"nullValue":null}}} | 200 | "name":"{root}/c/ & "nullValue":null
    POST /c?documentId=. | {} | 400 | "status":"INVALID_ARGUMENT"
    POST /c?documentId=.. | {} | 400 | "status":"INVALID_ARGUMENT"
    POST /c?documentId=__x__ | {} | 400 | "status":"INVALID_ARGUMENT"
    POST /c?documentId=a%2Fb | {} | 400 | "status":"INVALID_ARGUMENT"
    POST /c/new/sub?documentId=d | {"fields":{}} | 200 | "name":"{root}/c/new/sub/d"
    POST /c/new | {"fields":{}} | 400 | "status":"INVALID_ARGUMENT"
    POST /__c__?documentId=d | {} | 400 | "status":"INVALID_ARGUMENT"
    DELETE /c/new?currentDocument.exists=true | | 200 | {}
    DELETE /c/new | | 200 | {}
    DELETE /c/new?currentDocument.exists=true | | 404 | "status":"NOT_FOUND"
    DELETE /c/new2?currentDocument.updateTime=2001-01-01T00:00:00Z | | 400 | "status":"FAILED_PRECONDITION"
    DELETE /c | | 400 | "status":"INVALID_ARGUMENT"
    GET /c/new | | 404 | "status":"NOT_FOUND"
    GET /c/new/sub/d | | 200 | "name":"{root}/c/new/sub/d"
    GET /c/__x__ | | 400 | "status":"INVALID_ARGUMENT"
    GET /c/.. | | 400 | "status":"INVALID_ARGUMENT"
    GET /c//x | | 400 | "status":"INVALID_ARGUMENT"
    GET /c/a?readTime=2001-01-01T00:00:00Z | | 400 | "code":400
    GET /c/a?readTime=2999-01-01T00:00:00Z | | 400 | "status":"INVALID_ARGUMENT"
    GET /c/a?transaction=AAAA | | 400 | "status":"INVALID_ARGUMENT"
    GET /c/a?prettyPrint=true | | 200 | "name" : "{root}/c/a",
    GET /c/a?$prettyPrint=true&alt=json | | 200 | "name" : "{root}/c/a",
    GET /c/a?key=k&$.xgafv=2&quotaUser=q&uploadType=media&fields=name | | 200 | "name":"{root}/c/a"
    GET /c/a?nothing=1 | | 400 | Cannot bind query parameter
    GET /c/a?alt=media | | 400 | Only alt=json is served.
    GET /c/a?callback=f | | 400 | leave out callback
    GET /c/a?transaction=!!! | | 400 | Base64 decoding failed
    """#

  static let values = #"""
    PATCH /v/1 | {"fields":{"v":{"nullValue":null}}} | 200 | "v":{"nullValue":null}
    PATCH /v/1 | {"fields":{"v":{"nullValue":"NULL_VALUE"}}} | 200 | "v":{"nullValue":null}
    PATCH /v/1 | {"fields":{"v":{"booleanValue":false}}} | 200 | "v":{"booleanValue":false}
    PATCH /v/1 | {"fields":{"v":{"integerValue":"0"}}} | 200 | "v":{"integerValue":"0"}
    PATCH /v/1 | {"fields":{"v":{"integerValue":7}}} | 200 | "v":{"integerValue":"7"}
    PATCH /v/1 | {"fields":{"v":{"integerValue":7.0}}} | 200 | "v":{"integerValue":"7"}
    PATCH /v/1 | {"fields":{"v":{"integerValue":"9223372036854775807"}}} | 200 | "v":{"integerValue":"9223372036854775807"}
    PATCH /v/1 | {"fields":{"v":{"integerValue":"-9223372036854775808"}}} | 200 | "v":{"integerValue":"-9223372036854775808"}
    PATCH /v/1 | {"fields":{"v":{"integerValue":9007199254740993}}} | 200 | "v":{"integerValue":"9007199254740993"}
    PATCH /v/1 | {"fields":{"v":{"doubleValue":1.5}}} | 200 | "v":{"doubleValue":1.5}
    PATCH /v/1 | {"fields":{"v":{"doubleValue":"1.5"}}} | 200 | "v":{"doubleValue":1.5}
    PATCH /v/1 | {"fields":{"v":{"doubleValue":"NaN"}}} | 200 | "v":{"doubleValue":"NaN"}
    PATCH /v/1 | {"fields":{"v":{"doubleValue":"Infinity"}}} | 200 | "v":{"doubleValue":"Infinity"}
    PATCH /v/1 | {"fields":{"v":{"doubleValue":"-Infinity"}}} | 200 | "v":{"doubleValue":"-Infinity"}
    PATCH /v/1 | {"fields":{"v":{"doubleValue":-0.0}}} | 200 | "v":{"doubleValue":-0
    PATCH /v/1 | {"fields":{"v":{"doubleValue":5e-324}}} | 200 | "v":{"doubleValue":5e-324}
    PATCH /v/1 | {"fields":{"v":{"doubleValue":1e400}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{"stringValue":""}}} | 200 | "v":{"stringValue":""}
    PATCH /v/1 | {"fields":{"v":{"stringValue":"\u00e9\ud83d\ude00\n\u0000\"\\/"}}} | 200 | é😀\n
    PATCH /v/1 | {"fields":{"v":{"bytesValue":"+/8="}}} | 200 | "v":{"bytesValue":"+/8="}
    PATCH /v/1 | {"fields":{"v":{"bytesValue":"-_8"}}} | 200 | "v":{"bytesValue":"+/8="}
    PATCH /v/1 | {"fields":{"v":{"bytesValue":""}}} | 200 | "v":{"bytesValue":""}
    PATCH /v/1 | {"fields":{"v":{"bytesValue":"!!!"}}} | 400 | Invalid value at 'document.fields[0].value.bytes_value' (TYPE_BYTES), Base64 decoding failed for \"!!!\"
    PATCH /v/1 | {"fields":{"v":{"timestampValue":"2020-02-29T12:00:00Z"}}} | 200 | "v":{"timestampValue":"2020-02-29T12:00:00Z"}
    PATCH /v/1 | {"fields":{"v":{"timestampValue":"2020-01-01T02:00:00.5+02:00"}}} | 200 | "v":{"timestampValue":"2020-01-01T00:00:00.500Z"}
    PATCH /v/1 | {"fields":{"v":{"timestampValue":"2020-01-01T00:00:00.123456789Z"}}} | 200 | "v":{"timestampValue":"2020-01-01T00:00:00.123456Z"}
    PATCH /v/1 | {"fields":{"v":{"timestampValue":"0001-01-01T00:00:00Z"}}} | 200 | "v":{"timestampValue":"0001-01-01T00:00:00Z"}
    PATCH /v/1 | {"fields":{"v":{"timestampValue":"9999-12-31T23:59:59.999999Z"}}} | 200 | "v":{"timestampValue":"9999-12-31T23:59:59.999999Z"}
    PATCH /v/1 | {"fields":{"v":{"timestampValue":"soon"}}} | 400 | 'document.fields[0].value.timestamp_value'
    PATCH /v/1 | {"fields":{"v":{"timestampValue":"10000-01-01T00:00:00Z"}}} | 400 | timestamp_value
    PATCH /v/1 | {"fields":{"v":{"referenceValue":"{root}/x/y"}}} | 200 | "v":{"referenceValue":"{root}/x/y"}
    PATCH /v/1 | {"fields":{"v":{"referenceValue":"{root}/x"}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{"geoPointValue":{"latitude":10.5,"longitude":-3.5}}}} | 200 | "v":{"geoPointValue":{"latitude":10.5,"longitude":-3.5}}
    PATCH /v/1 | {"fields":{"v":{"geoPointValue":{}}}} | 200 | "v":{"geoPointValue":{}}
    PATCH /v/1 | {"fields":{"v":{"geoPointValue":{"latitude":91}}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{"arrayValue":{}}}} | 200 | "v":{"arrayValue":{}}
    PATCH /v/1 | {"fields":{"v":{"arrayValue":{"values":[{"integerValue":"1"},{"nullValue":null}]}}}} | 200 | "values":[{"integerValue":"1"},{"nullValue":null}]
    PATCH /v/1 | {"fields":{"v":{"arrayValue":{"values":[{"arrayValue":{}}]}}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{"mapValue":{}}}} | 200 | "v":{"mapValue":{}}
    PATCH /v/1 | {"fields":{"v":{"mapValue":{"fields":{"b":{"integerValue":"1"},"a":{"integerValue":"2"}}}}}} | 200 | "fields":{"a":{"integerValue":"2"},"b":{"integerValue":"1"}}
    PATCH /v/1 | {"fields":{"v":{"map_value":{"fields":{"x":{"string_value":"y"}}}}}} | 200 | "stringValue":"y"
    PATCH /v/1 | {"fields":{"":{"integerValue":"1"}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"__id__":{"integerValue":"1"}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{"integerValue":null}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{"fooValue":1}}} | 400 | Unknown name \"fooValue\" at 'document.fields[0].value': Cannot find field. & "@type":"type.googleapis.com/google.rpc.BadRequest" & "field":"document.fields[0].value"
    PATCH /v/1 | {"fields":{"v":{"integerValue":"1.5"}}} | 400 | (TYPE_INT64)
    PATCH /v/1 | {"fields":{"v":{"integerValue":"9223372036854775808"}}} | 400 | (TYPE_INT64)
    PATCH /v/1 | {"fields":{"v":{"integerValue":123456789012345678901234567890}}} | 400 | (TYPE_INT64)
    PATCH /v/1 | {"fields":{"v":{"integerValue":"1","stringValue":"x"}}} | 400 | 'value_type' is already set
    PATCH /v/1 | {"fields":{"v":{"integerValue":"1","stringValue":null}}} | 200 | "v":{"integerValue":"1"}
    PATCH /v/1 | {"fields":{"v":{"booleanValue":1}}} | 400 | (TYPE_BOOL), 1
    PATCH /v/1 | {"fields":{"v":{"stringValue":1}}} | 400 | (TYPE_STRING), 1
    PATCH /v/1 | {"fields":{"v":5}} | 400 | Invalid value at 'document.fields[0].value'
    PATCH /v/1 | {"fields":[]} | 400 | 'document.fields'
    PATCH /v/1 | {"fields":{"v":{"integerValue":"1"},"v":{"integerValue":"2"}}} | 400 | Repeated map key: 'v' is already set.
    PATCH /v/1 | {"fields":{"v":{"integerValue":01}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields":{"v":{"stringValue":"\ud800"}}} | 400 | "status":"INVALID_ARGUMENT"
    PATCH /v/1 | {"fields": | 400 | Invalid JSON payload received.
    PATCH /v/1 | [] | 400 | Invalid value at 'document'
    PATCH /v/1 | "text" | 400 | Invalid value at 'document'
    PATCH /v/1 | {"fields":{}} trailing | 400 | Invalid JSON payload received.
    PATCH /v/1 | {"unknown":1} | 400 | Unknown name \"unknown\" at 'document': Cannot find field.
    PATCH /v/1 | {"createTime":"2001-01-01T00:00:00Z","fields":{}} | 200 | "createTime":"20 & !2001
    """#

  static let commits = #"""
    POST :commit | {} | 200 | "commitTime":"
    POST :commit | {"writes":[]} | 200 | "commitTime":"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a","fields":{"n":{"integerValue":"1"}}}}]} | 200 | "writeResults":[{"updateTime":" & "commitTime":"
    POST :commit | {"database":"projects/p/databases/(default)","writes":[{"delete":"{root}/w/none"}]} | 200 | "writeResults":[{}]
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a"},"updateMask":{},"updateTransforms":[{"fieldPath":"n","increment":{"integerValue":"2"}}]}]} | 200 | "transformResults":[{"integerValue":"3"}]
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a"},"update_mask":{},"update_transforms":[{"field_path":"t","set_to_server_value":"REQUEST_TIME"}]}]} | 200 | "transformResults":[{"timestampValue":"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a"},"updateMask":{},"updateTransforms":[{"fieldPath":"t","setToServerValue":1}]}]} | 200 | "transformResults":[{"timestampValue":"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a"},"updateMask":{},"updateTransforms":[{"fieldPath":"l","appendMissingElements":{"values":[{"integerValue":"1"}]}}]}]} | 200 | "transformResults":[{"nullValue":null}]
    POST :commit | {"writes":[{"transform":{"document":"{root}/w/b","fieldTransforms":[{"fieldPath":"n","maximum":{"integerValue":"5"}}]}}]} | 200 | "integerValue":"5"
    POST :commit | {"writes":[{"verify":"{root}/w/a","currentDocument":{"exists":true}}]} | 200 | "writeResults"
    POST :commit | {"writes":[{"verify":"{root}/w/none","currentDocument":{"exists":true}}]} | 404 | "status":"NOT_FOUND"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a"},"delete":"{root}/w/a"}]} | 400 | 'operation' is already set
    POST :commit | {"writes":[{}]} | 400 | "status":"INVALID_ARGUMENT"
    POST :commit | {"writes":{}} | 400 | Invalid value at 'writes'
    POST :commit | {"writes":[5]} | 400 | Invalid value at 'writes[0]'
    POST :commit | {"writes":[{"update":{"name":"not/a/name"}}]} | 400 | "status":"INVALID_ARGUMENT"
    POST :commit | {"writes":[{"update":{"name":"projects/p/databases/other/documents/w/a"}}]} | 400 | "status":"INVALID_ARGUMENT"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a","fields":{}},"currentDocument":{"exists":false}}]} | 409 | "status":"ALREADY_EXISTS"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/x","fields":{}}},{"update":{"name":"{root}/w/none","fields":{}},"currentDocument":{"exists":true}}]} | 404 | "status":"NOT_FOUND"
    GET /w/x | | 404 | "status":"NOT_FOUND"
    POST :commit | {"writes":[{"delete":"{root}/w/a","updateMask":{"fieldPaths":["n"]}}]} | 400 | "status":"INVALID_ARGUMENT"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a"},"updateTransforms":[{"fieldPath":"n","increment":{"stringValue":"1"}}]}]} | 400 | "status":"INVALID_ARGUMENT"
    POST :commit | {"writes":[{"update":{"name":"{root}/w/a","fields":{"a":{"fooValue":1}}}}]} | 400 | at 'writes[0].update.fields[0].value': Cannot find field.
    POST :commit | {"transaction":"AAAA"} | 400 | "status":"INVALID_ARGUMENT"
    POST :commit | {"transaction":"not base64!"} | 400 | Invalid value at 'transaction' (TYPE_BYTES)
    POST :commit | | 200 | "commitTime":"
    POST :commit?key=k | {} | 200 | "commitTime":"
    POST :commit?database=x | {} | 400 | Cannot bind query parameter
    POST :batchWrite | {"writes":[]} | 200 | {}
    POST :batchWrite | {"writes":[{"update":{"name":"{root}/w/c","fields":{}}},{"delete":"{root}/w/none","currentDocument":{"exists":true}}],"labels":{"a":"b"}} | 200 | "writeResults":[{"updateTime":" & "status":[{},{"code":5
    POST :batchWrite | {"writes":[{"delete":"{root}/w/c"},{"delete":"{root}/w/c"}]} | 400 | "status":"INVALID_ARGUMENT"
    POST :batchWrite | {"transaction":"AA=="} | 400 | Unknown name \"transaction\"
    POST :beginTransaction | {} | 200 | "transaction":"
    POST :beginTransaction | {"options":{"readOnly":{}}} | 200 | "transaction":"
    POST :beginTransaction | {"options":{"readWrite":{}}} | 200 | "transaction":"
    POST :beginTransaction | {"options":{"readWrite":{},"readOnly":{}}} | 400 | 'mode' is already set
    POST :beginTransaction | {"options":{"readWrite":{"concurrencyMode":"OPTIMISTIC"}}} | 200 | "transaction":"
    POST :beginTransaction | {"options":{"readWrite":{"concurrencyMode":"HOPEFUL"}}} | 400 | Invalid value at 'options.read_write.concurrency_mode'
    """#

  static let reads = #"""
    POST :commit | {"writes":[{"update":{"name":"{root}/q/a","fields":{"n":{"integerValue":"1"},"t":{"arrayValue":{"values":[{"stringValue":"r"}]}}}}},{"update":{"name":"{root}/q/b","fields":{"n":{"integerValue":"2"}}}},{"update":{"name":"{root}/q/c","fields":{"n":{"doubleValue":3.5}}}},{"update":{"name":"{root}/q/c/sub/d","fields":{}}},{"update":{"name":"{root}/m/missing/sub/e","fields":{}}}]} | 200 | "commitTime"
    POST :batchGet | {} | 200 | []
    POST :batchGet | {"documents":["{root}/q/a","{root}/q/none"]} | 200 | "found":{"name":"{root}/q/a" & "missing":"{root}/q/none" & "readTime":"
    POST :batchGet | {"documents":["{root}/q/a"],"mask":{"fieldPaths":["zzz"]}} | 200 | !"fields"
    POST :batchGet | {"documents":["{root}/q/a"],"newTransaction":{}} | 200 | [{"transaction":"
    POST :batchGet | {"documents":["{root}/q"]} | 400 | [{"error":{"code":400 & "status":"INVALID_ARGUMENT"
    POST :batchGet | {"documents":["x"]} | 400 | [{"error":
    POST :batchGet | {"documents":"x"} | 400 | [{"error": & Invalid value at 'documents'
    POST :batchGet | {"documents":[],"transaction":"AAAA","readTime":"2020-01-01T00:00:00Z"} | 400 | 'consistency_selector' is already set
    POST :batchGet | {nope | 400 | [{"error": & Invalid JSON payload received.
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}]}} | 200 | [{"document":{"name":"{root}/q/a" & {root}/q/b & {root}/q/c & !{root}/q/c/sub
    POST :runQuery | {"structured_query":{"from":[{"collection_id":"q"}],"order_by":[{"field":{"field_path":"n"},"direction":"DESCENDING"}],"limit":1}} | 200 | {root}/q/c & !{root}/q/a
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"limit":"1"}} | 200 | {root}/q/a & !{root}/q/b
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"limit":-1}} | 400 | [{"error": & "status":"INVALID_ARGUMENT"
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"limit":{"value":1}}} | 400 | 'structured_query.limit' (TYPE_INT32)
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"where":{"fieldFilter":{"field":{"fieldPath":"n"},"op":"GREATER_THAN","value":{"integerValue":"1"}}}}} | 200 | {root}/q/b & {root}/q/c & !{root}/q/a
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"where":{"fieldFilter":{"field":{"fieldPath":"n"},"op":5,"value":{"doubleValue":1}}}}} | 200 | {root}/q/a & !{root}/q/b
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"where":{"fieldFilter":{"field":{"fieldPath":"t"},"op":"ARRAY_CONTAINS","value":{"stringValue":"r"}}}}} | 200 | {root}/q/a & !{root}/q/b
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"where":{"compositeFilter":{"op":"OR","filters":[{"fieldFilter":{"field":{"fieldPath":"n"},"op":"EQUAL","value":{"integerValue":"1"}}},{"fieldFilter":{"field":{"fieldPath":"n"},"op":"EQUAL","value":{"integerValue":"2"}}}]}}}} | 200 | {root}/q/a & {root}/q/b & !{root}/q/c
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"where":{"unaryFilter":{"field":{"fieldPath":"t"},"op":"IS_NULL"}}}} | 200 | [{"readTime":"
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"where":{"fieldFilter":{"field":{"fieldPath":"n"},"op":"LIKE","value":{"integerValue":"1"}}}}} | 400 | 'structured_query.where.field_filter.op'
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"startAt":{"values":[{"integerValue":"2"}],"before":true},"orderBy":[{"field":{"fieldPath":"n"}}]}} | 200 | {root}/q/b & !{root}/q/a
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"sub","allDescendants":true}]}} | 200 | {root}/q/c/sub/d & {root}/m/missing/sub/e
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}],"select":{"fields":[]}}} | 200 | {root}/q/a & !"fields"
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"q"}]},"newTransaction":{}} | 200 | [{"transaction":"
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"none"}]}} | 200 | [{"readTime":"
    POST :runQuery | {} | 400 | [{"error": & "status":"INVALID_ARGUMENT"
    POST :runQuery | {"structuredQuery":{"nothing":1}} | 400 | Unknown name \"nothing\" at 'structured_query'
    POST :runQuery?prettyPrint=true | {"structuredQuery":{"from":[{"collectionId":"q"}],"limit":1}} | 200 | "document" : {
    POST /q/c:runQuery | {"structuredQuery":{"from":[{"collectionId":"sub"}]}} | 200 | {root}/q/c/sub/d & !{root}/m
    POST /q/c:runQuery | {"parent":"{root}","structuredQuery":{"from":[{"collectionId":"sub"}]}} | 200 | {root}/q/c/sub/d
    POST /q:runQuery | {"structuredQuery":{"from":[{"collectionId":"sub"}]}} | 400 | [{"error":
    POST :runAggregationQuery | {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"q"}]},"aggregations":[{"alias":"c","count":{}}]}} | 200 | [{"result":{"aggregateFields":{"c":{"integerValue":"3"}}},"readTime":"
    POST :runAggregationQuery | {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"q"}]},"aggregations":[{"alias":"c","count":{"upTo":"2"}}]}} | 200 | "integerValue":"2"
    POST :runAggregationQuery | {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"q"}]},"aggregations":[{"alias":"s","sum":{"field":{"fieldPath":"n"}}},{"alias":"a","avg":{"field":{"fieldPath":"n"}}}]}} | 200 | "s":{"doubleValue":6.5}
    POST :runAggregationQuery | {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"q"}]},"aggregations":[]}} | 400 | [{"error":
    POST :runAggregationQuery | {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"q"}]},"aggregations":[{"alias":"c","count":{},"sum":{}}]}} | 400 | 'operator' is already set
    POST :listCollectionIds | | 200 | "collectionIds":[ & "q"
    POST :listCollectionIds | {"pageSize":1} | 200 | "nextPageToken":"
    POST /q/c:listCollectionIds | {} | 200 | "collectionIds":["sub"]
    POST /m/missing:listCollectionIds | {} | 200 | "collectionIds":["sub"]
    POST /q/a:listCollectionIds | {} | 200 | {}
    POST :listCollectionIds | {"pageSize":-1} | 400 | {"error": & "status":"INVALID_ARGUMENT"
    GET /q | | 200 | {"documents":[{"name":"{root}/q/a" & {root}/q/c
    GET /q?pageSize=1 | | 200 | "nextPageToken":" & !{root}/q/b
    GET /q?pageSize=-1 | | 400 | "status":"INVALID_ARGUMENT"
    GET /q?pageToken=nonsense | | 400 | "status":"INVALID_ARGUMENT"
    GET /q?orderBy=n%20desc | | 200 | "documents":[{"name":"{root}/q/c"
    GET /q?orderBy=n%20sideways | | 400 | "status":"INVALID_ARGUMENT"
    GET /q?mask.fieldPaths=_none_ | | 200 | !"fields" & {root}/q/a
    GET /m | | 200 | {}
    GET /m?showMissing=true | | 200 | "name":"{root}/m/missing" & !"createTime"
    GET /m?showMissing=true&orderBy=n | | 400 | "status":"INVALID_ARGUMENT"
    GET /none | | 200 | {}
    GET /q/c/sub | | 200 | {root}/q/c/sub/d
    """#

  static let routes = #"""
    GET / | | 200 | Ok
    PUT /c/a | {} | 404 | Not Found
    POST :nothing | {} | 404 | Not Found
    GET :commit | | 404 | Not Found
    POST /a/b:commit | {} | 404 | Not Found
    POST :listen | {} | 501 | "status":"UNIMPLEMENTED"
    POST :write | {} | 501 | "status":"UNIMPLEMENTED"
    POST :executePipeline | {} | 501 | [{"error":{"code":501
    GET /v1/{root} | | 404 | Not Found
    GET /v1/{root}/ | | 404 | Not Found
    GET /v1/projects/p/databases/(default) | | 200 | "name":"projects/p/databases/(default)" & "type":"FIRESTORE_NATIVE"
    GET /v1/projects/p/databases/(default)/operations | | 404 | Not Found
    GET /v1/projects/p/databases/(default)/collectionGroups/c/indexes | | 404 | Not Found
    POST /v1/projects/p/databases/(default):exportDocuments | {} | 404 | Not Found
    GET /v1/projects/p/databases//documents/a/b | | 404 | Not Found
    GET /v1/projects/p/databases/other/documents/c/a | | 404 | "status":"NOT_FOUND"
    GET /v1/projects/example.com:id/databases/(default)/documents/c/a | | 404 | "status":"NOT_FOUND"
    GET /emulator/v1/projects/p:nothing | | 404 | Not Found
    DELETE /emulator/v1/projects/p/databases/(default)/documents | | 404 | Not Found
    """#

  static let vectors = #"""
    PATCH /vec/a | {"fields":{"v":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":3},{"doubleValue":4}]}}}}}}} | 200 | "name":"{root}/vec/a"
    PATCH /vec/b | {"fields":{"v":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1},{"doubleValue":0}]}}}}}}} | 200 | "name":"{root}/vec/b"
    PATCH /vec/c | {"fields":{"v":{"integerValue":"1"}}} | 200 | "name":"{root}/vec/c"
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"vec"}],"findNearest":{"vectorField":{"fieldPath":"v"},"queryVector":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":0},{"doubleValue":0}]}}}}},"distanceMeasure":"EUCLIDEAN","limit":2,"distanceResultField":"far"}}} | 200 | "far":{"doubleValue":1.0} & "far":{"doubleValue":5.0} & !vec/c
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"vec"}],"findNearest":{"vectorField":{"fieldPath":"v"},"queryVector":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":0},{"doubleValue":0}]}}}}},"distanceMeasure":"EUCLIDEAN","limit":2,"distanceThreshold":2}}} | 200 | vec/b & !vec/a
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"vec"}],"findNearest":{"vectorField":{"fieldPath":"v"},"queryVector":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1}]}}}}},"distanceMeasure":"NEAR","limit":2}}} | 400 | distance_measure
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"vec"}],"findNearest":{"vectorField":{"fieldPath":"v"},"queryVector":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1}]}}}}},"distanceMeasure":"COSINE","limit":0}}} | 400 | limit must be between 1 and 1000
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"vec"}]},"explainOptions":{}} | 200 | "indexesUsed":[{ & "query_scope":"Collection" & "properties":"(__name__ ASC)" & !"document" & !"executionStats"
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"vec"}],"limit":2},"explainOptions":{"analyze":true}} | 200 | vec/a & vec/b & !vec/c & "resultsReturned":"2" & "debugStats":{
    POST :runAggregationQuery | {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"vec"}]},"aggregations":[{"count":{},"alias":"n"}]},"explainOptions":{"analyze":true}} | 200 | "n":{"integerValue":"3"} & "resultsReturned":"1"
    POST :runQuery | {"structuredQuery":{"from":[{"collectionId":"vec"}]},"explainOptions":{"analyse":true}} | 400 | at 'explain_options': Cannot find field.
    """#

  static let all = [documents, values, commits, reads, vectors, routes]
}
