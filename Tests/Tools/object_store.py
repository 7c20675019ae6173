# SPDX-License-Identifier: MPL-2.0
"""A stand-in for Amazon S3 that checks signatures (moto), with one user and the bucket `live`.

    object_store.py          prints its address, the identifier of a key, and the key; ends with its parent
"""
import json
import os
import time

import boto3


def client(kind, address, identifier="x", key="x"):
    return boto3.client(
        kind, endpoint_url=address, region_name="us-east-1", aws_access_key_id=identifier,
        aws_secret_access_key=key)


def serve():
    # Until the key is there, and the bucket.
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    client("s3", address).create_bucket(Bucket="live")
    users = client("iam", address)
    users.create_user(UserName="studio")
    everything = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    users.put_user_policy(
        UserName="studio", PolicyName="all",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [everything]}))
    key = users.create_access_key(UserName="studio")["AccessKey"]
    print(address, key["AccessKeyId"], key["SecretAccessKey"], flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.5)


serve()
